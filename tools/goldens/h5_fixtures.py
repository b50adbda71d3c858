#!/usr/bin/env python3
"""Writes tests/fixtures/shapes/*.h5 as h5py does, for tests/data/shapes/shapes_test.cpp.

`python tools/goldens/h5_fixtures.py` needs h5py and numpy.
"""
from pathlib import Path

import h5py
import numpy as np

out = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "shapes"
out.mkdir(parents=True, exist_ok=True)
data = (np.arange(4 * 16 * 3) / 256 - 0.375).astype("f4").reshape(4, 16, 3)
label = np.array([[2], [0], [1], [4]])

with h5py.File(out / "gzip.h5", "w") as f:
    f.create_dataset("data", data=data, compression="gzip", compression_opts=4, shuffle=True)
    f.create_dataset("label", data=label.astype("u1"), compression="gzip", compression_opts=1)
with h5py.File(out / "double.h5", "w") as f:
    f["data"] = data.astype(">f8")
    f["label"] = label[:, 0].astype("i4")
with h5py.File(out / "v110.h5", "w", libver=("v108", "v110")) as f:
    f.create_dataset("data", data=data, chunks=(2, 8, 3), compression="gzip")
    f["label"] = label
