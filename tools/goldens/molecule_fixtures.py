#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/ase.{xyz,xyz.gz} with ASE (PyPI: ase).

    python tools/goldens/molecule_fixtures.py

tests/data/extended_xyz_test.cpp says what they hold.
"""
import gzip
from pathlib import Path

import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from ase.io import write

root = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "molecules"
root.mkdir(parents=True, exist_ok=True)

water = Atoms("OH2", positions=[[0, 0, 0.125], [0, 0.75, -0.5], [0, -0.75, -0.5]])
water.calc = SinglePointCalculator(water, energy=-14.25, forces=[[0, 0, -0.5], [0, 0.125, 0.25], [0, -0.125, 0.25]])
water.info.update(config_type="water", charge=0, note='two words, "quoted"', flags=np.array([True, False]),
                  counts=np.array([1, 2, 3]), weights=np.array([0.5, 1.0]), matrix=np.array([[1, 2], [3, 4]]),
                  converged=True, smiles="[H]O[H]")
water.new_array("charges_dft", np.array([-0.5, 0.25, 0.25]))
water.new_array("site", np.array([7, 8, 9]))
water.new_array("fixed", np.array([True, False, False]))
water.new_array("label", np.array(["Ow", "H1", "H2"]))

slab = Atoms("NaCl", positions=[[0, 0, 0], [2.5, 2.5, 2.5]], cell=[[5, 0, 0], [1, 5, 0], [0.5, 0.25, 12]],
             pbc=[True, True, False])
slab.calc = SinglePointCalculator(slab, energy=-3, forces=[[1, 2, 3], [-1, -2, -3]], stress=[1, 2, 3, 4, 5, 6])

write(root / "ase.xyz", [water, slab], format="extxyz")
(root / "ase.xyz.gz").write_bytes(gzip.compress((root / "ase.xyz").read_bytes(), mtime=0))
