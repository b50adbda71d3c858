#!/usr/bin/env python3
"""Prints the constants of tests/makers/xtb_test.cpp: GFN2-xTB by tblite, an implementation of its own.

`python tools/goldens/gfn2.py` needs numpy and tblite (0.8.0 made them).
"""
import numpy as np
from tblite.interface import Calculator

bohr, hartree = 0.529177210544, 27.211386245981  # CODATA 2022, in A and eV

molecules = {
    "methanol": ([6, 8, 1, 1, 1, 1], 0, [[-0.36, 0.02, 0.03], [0.95, -0.07, -0.16], [-0.83, -0.90, -0.35], [-0.60, 0.13, 1.09],
                                        [-0.69, 0.91, -0.55], [1.37, 0.72, 0.11]]),
    "hydroxide": ([8, 1], -1, [[0.0, 0.0, -0.1], [0.3, 0.1, 0.85]]),
}
for name, (numbers, charge, positions) in molecules.items():
    calculator = Calculator("GFN2-xTB", np.array(numbers), np.array(positions) / bohr, charge=charge)
    calculator.set("verbosity", 0)
    calculator.set("accuracy", 1e-3)
    result = calculator.singlepoint()
    print(name)
    print("  energy", repr(float(result.get("energy") * hartree)))
    print("  forces", [round(float(x), 7) for x in (-result.get("gradient") * hartree / bohr).ravel()])
    print("  dipole", [round(float(x), 6) for x in result.get("dipole") * bohr])
    print("  charges", [round(float(x), 6) for x in result.get("charges")])
