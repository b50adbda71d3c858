#!/usr/bin/env python3
"""Writes tests/goldens/kabsch.txt: rotations that bring points nearest to others, by SciPy's Rotation.align_vectors.

    pip install scipy numpy
    python3 tools/goldens/kabsch.py

A line each: the name of the case, the number of points n, then the 3n coordinates of the points, the 3n of those to be met,
and the least sum of squared distances. Where the best rotation is unique, its nine numbers follow, row after row. The cases:
random points, points turned and shifted without noise, a mirrored copy (the best rotation is proper all the same), points
in a plane, points on a line, one point.
"""
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

random = np.random.default_rng(20)


def line(name, a, b, unique=True):
    ca, cb = a - a.mean(0), b - b.mean(0)
    rotation, _ = Rotation.align_vectors(cb, ca)
    matrix = rotation.as_matrix()
    rest = ((ca @ matrix.T - cb) ** 2).sum()
    numbers = [*a.ravel(), *b.ravel(), rest, *(matrix.ravel() if unique else [])]
    return " ".join([name, str(len(a)), *(repr(float(x)) for x in numbers)])


lines = []
for k in range(4):
    a, b = random.normal(size=(2, 5 + k, 3))
    lines.append(line("random", a, b + 3))
a = random.normal(size=(6, 3))
turn = Rotation.from_rotvec([0.3, -1.2, 2.0])
lines.append(line("turned", a, turn.apply(a) + [1.0, 2.0, -5.0]))
lines.append(line("mirrored", a, turn.apply(a * [1, 1, -1])))
plane = random.normal(size=(6, 3)) * [1, 1, 0]
lines.append(line("planar", plane, turn.apply(plane + 0.01 * random.normal(size=(6, 3)) * [1, 1, 0])))
along = np.outer([0.0, 1.1, 2.5], [1.0, 0.0, 0.0])
lines.append(line("linear", along, turn.apply(along) + 0.5, unique=False))
lines.append(line("linear_opposite", along, -along, unique=False))
path = Path(__file__).resolve().parents[2] / "tests/goldens/kabsch.txt"
path.write_text("\n".join(lines) + "\n")
