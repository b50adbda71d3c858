#!/usr/bin/env python3
"""Writes tests/goldens/relaxation_metrics.txt: the metrics of OC20's tasks IS2RE and IS2RS in plain NumPy.

    pip install numpy
    python3 tools/goldens/relaxation_metrics.py

A line for each structure: the number of atoms n, the predicted and the true energy (eV), the cell (9 numbers, rows are its
vectors), then of each atom whether it is free, its predicted and its true place (Angstrom). The last line: mae, rmse, ewt,
displacement_mae, displacement_rmse, adwt. Rules as in fairchem's evaluator: differences are wrapped into [0, 1) of the cell
along its axes, and 1 is taken off what is above 0.5; adwt asks of thresholds 0.010, 0.011 ... 0.499 whether they are above
the mean distance of a structure; ewt whether an energy is off by less than 0.02 eV.
"""
from pathlib import Path

import numpy as np

random = np.random.default_rng(7)


def shortest(difference, cell):
    parts = np.linalg.solve(cell.T, difference.T).T % 1.0
    parts[parts > 0.5] -= 1
    return parts @ cell


lines, energies, parts, within = [], [], [], []
thresholds = np.arange(0.01, 0.5, 0.001)
assert len(thresholds) == 490
for k in range(12):
    n = 3 + k % 4
    cell = np.diag([6.0, 7.0, 20.0]) + random.normal(size=(3, 3)) * 0.8
    true = random.uniform(size=(n, 3)) @ cell
    # From within to far off the thresholds; some places are in another cell.
    predicted = true + random.normal(size=(n, 3)) * [0.005, 0.05, 0.2, 0.6][k % 4]
    predicted += random.integers(-1, 2, size=(n, 3)) @ cell
    free = random.uniform(size=n) < 0.7
    free[0] = True
    energy = random.normal(size=2) * 0.03 - 1.5
    off = shortest(predicted - true, cell)[free]
    energies.append(energy[0] - energy[1])
    parts.append(off)
    within.append((thresholds > np.linalg.norm(off, axis=1).mean()).mean())
    atoms = np.hstack([free[:, None], predicted, true])
    lines.append(" ".join(repr(float(x)) for x in [n, *energy, *cell.ravel(), *atoms.ravel()]))
error, off = np.array(energies), np.vstack(parts)
metrics = [
    np.abs(error).mean(),
    np.sqrt((error**2).mean()),
    (np.abs(error) < 0.02).mean(),
    np.abs(off).mean(),
    np.sqrt((off**2).mean()),
    np.mean(within),
]
lines.append(" ".join(repr(float(x)) for x in metrics))
path = Path(__file__).resolve().parents[2] / "tests/goldens/relaxation_metrics.txt"
path.write_text("\n".join(lines) + "\n")
