#!/usr/bin/env python3
"""Writes tests/goldens/mask_surfaces.txt: distances between the surfaces of pairs of masks, by SciPy's distance transform.

    pip install scipy numpy
    python3 tools/goldens/mask_surfaces.py

A line each: the name of the case, the three sizes, the three spacings in mm, both masks as digits 0 and 1 in a row, then HD95 as
the larger of both directions and of all distances together (medpy's form), surface Dice at 1 mm, and both masks' numbers of
surface cells. Surfaces are a mask less its erosion by the six neighbours; outside of the grid nothing is inside. Images are one
slice thick, and eroded within it.
"""
from pathlib import Path

import numpy as np
from scipy import ndimage

random = np.random.default_rng(40)


def surface(mask):
    plane = mask[0] if mask.shape[0] == 1 else mask
    edge = plane & ~ndimage.binary_erosion(plane, ndimage.generate_binary_structure(plane.ndim, 1))
    return edge.reshape(mask.shape)


def blob(sizes, spacing, radius):
    grid = np.stack(np.meshgrid(*[np.arange(n) * s for n, s in zip(sizes, spacing)], indexing="ij"), -1)
    centre = random.uniform(0.3, 0.7, 3) * (np.array(sizes) - 1) * spacing
    noise = ndimage.gaussian_filter(random.normal(size=sizes), 1.5, mode="wrap")
    return np.linalg.norm(grid - centre, axis=-1) < radius * (1 + 2 * noise)


def line(name, a, b, spacing):
    edges = surface(a), surface(b)
    there = ndimage.distance_transform_edt(~edges[1], sampling=spacing)[edges[0]]
    back = ndimage.distance_transform_edt(~edges[0], sampling=spacing)[edges[1]]
    near = ((there <= 1).sum() + (back <= 1).sum()) / (len(there) + len(back))
    numbers = [max(np.percentile(there, 95), np.percentile(back, 95)), np.percentile(np.concatenate([there, back]), 95), near]
    masks = ["".join(map(str, x.astype(int).ravel())) for x in (a, b)]
    return " ".join([name, *map(str, a.shape), *map(repr, spacing), *masks, *(repr(float(x)) for x in numbers),
                     str(len(there)), str(len(back))])


lines = []
for name, sizes, spacing in [("cube", (12, 12, 12), (1.0, 1.0, 1.0)), ("slices", (9, 14, 13), (3.5, 0.8, 0.9)),
                             ("thin", (2, 10, 17), (5.0, 0.7, 0.7)), ("image", (1, 20, 24), (1.0, 0.5, 0.5))]:
    for _ in range(2):
        a, b = (blob(sizes, spacing, 0.35 * max(n * s for n, s in zip(sizes, spacing))) for _ in range(2))
        assert a.any() and b.any()
        lines.append(line(name, a, b, spacing))
apart = np.zeros((2, 8, 8, 8), bool)  # single cells, and a mask that touches the border of the grid
apart[0, 0, 0, 0] = apart[1, 7, 6, 5] = True
lines.append(line("points", apart[0], apart[1], (1.0, 2.0, 3.0)))
half = np.zeros((8, 8, 8), bool)
half[:4] = True
lines.append(line("border", half, ~half, (1.0, 1.0, 1.0)))
path = Path(__file__).resolve().parents[2] / "tests/goldens/mask_surfaces.txt"
path.write_text("\n".join(lines) + "\n")
