#!/usr/bin/env python3
"""Writes tests/fixtures/numpy/ with numpy itself: `python tools/goldens/numpy_fixtures.py` (numpy 2).

The numbers are simple on purpose: tests/data/containers/npy_test.cpp and npz_test.cpp state them again.
"""
from pathlib import Path

import numpy as np

folder = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "numpy"
folder.mkdir(parents=True, exist_ok=True)
grid = np.arange(24).reshape(2, 3, 4)
np.save(folder / "c_order_f8.npy", grid.astype("<f8"))
np.save(folder / "fortran_f4.npy", np.asfortranarray(grid.astype("<f4")))
np.save(folder / "big_endian_i2.npy", grid.astype(">i2"))
np.save(folder / "fortran_big_endian_i8.npy", np.asfortranarray(grid.astype(">i8")))
np.save(folder / "bool.npy", grid % 2 == 0)
np.save(folder / "scalar_u1.npy", np.uint8(7))
with open(folder / "version2_f2.npy", "wb") as file:
    np.lib.format.write_array(file, grid.astype("<f2"), version=(2, 0))
arrays = {"grid": grid.astype("<f4"), "mask": grid % 2 == 0, "R/coordinates": np.float64(2.5)}
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays)
for path in sorted(folder.iterdir()):
    print(f"{path.stat().st_size:6d} {path.name}")
