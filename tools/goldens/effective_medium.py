#!/usr/bin/env python3
"""Writes tests/goldens/effective_medium.txt: energies and forces of ASE's EMT calculator.

    pip install ase numpy
    python3 tools/goldens/effective_medium.py

Written with ase 3.29.0. A line for each system: the number of atoms, periodic directions, the cell (9), the energy (eV), then
of each atom its number, place (A) and force (eV/A). Systems: each metal's slab with an adsorbate, alloys, a crystal, a
molecule, an atom alone.
"""
from pathlib import Path

import numpy as np
from ase import Atoms
from ase.build import add_adsorbate, bulk, fcc100, fcc111
from ase.calculators.emt import EMT

random = np.random.default_rng(3)
systems = []
adsorbates = ["H", "C", "N", "O", "CO", "OH", "NO"]
for metal, adsorbate in zip(["Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"], adsorbates):
    slab = (fcc111 if metal != "Ni" else fcc100)(metal, (2, 2, 3), vacuum=8.0)
    height = 1.6
    for k, symbol in enumerate(adsorbate):
        add_adsorbate(slab, symbol, height + 1.2 * k, position=(0.7, 0.9))
    slab.rattle(0.1, rng=random)
    systems.append(slab)
alloy = fcc111("Cu", (3, 2, 2), vacuum=8.0)
alloy.numbers[[1, 5, 8]] = [46, 79, 13]
alloy.rattle(0.05, rng=random)
systems += [alloy, bulk("Pd", cubic=True), Atoms("OH", [[0, 0, 0], [0, 0, 1.0]]), Atoms("Pt")]
lines = []
for atoms in systems:
    atoms.calc = EMT()
    forces, energy = atoms.get_forces(), atoms.get_potential_energy()
    numbers = [len(atoms), *map(int, atoms.pbc), *atoms.cell.array.ravel(), energy]
    for z, place, force in zip(atoms.numbers, atoms.positions, forces):
        numbers += [int(z), *place, *force]
    lines.append(" ".join(repr(x if isinstance(x, int) else float(x)) for x in numbers))
path = Path(__file__).resolve().parents[2] / "tests/goldens/effective_medium.txt"
path.write_text("\n".join(lines) + "\n")
