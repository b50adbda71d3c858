#!/usr/bin/env python3
"""Writes tests/fixtures/shapes/*.h5 as h5py does, for tests/data/clouds/shapes_test.cpp, and tests/fixtures/clouds/*.h5, for
tests/data/clouds/clouds_test.cpp.

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

# Clouds of one's own: one with a class that is a single number, and many in a file, by other names and types.
clouds = out.parent / "clouds"
clouds.mkdir(exist_ok=True)
with h5py.File(clouds / "one.h5", "w") as f:
    f["points"] = data[0]
    f["normal"] = np.tile(np.array([0, 0, 1], "f2"), (16, 1))
    f["label"] = 1
with h5py.File(clouds / "many.h5", "w") as f:
    f.create_dataset("xyz", data=data.astype(">f8"), maxshape=(None, 16, 3), chunks=(2, 16, 3), compression="gzip")
    f["y"] = label[:, 0].astype("u1")
    f["colour"] = np.full((4, 16, 3), 51, "u1")
    scan = f.create_group("scan")
    scan["places"] = data
with h5py.File(clouds / "points.h5", "w") as f:  # a class of each point by a usual name of classes
    f["data"] = data
    f["label"] = (np.arange(4 * 16) % 5).astype("u1").reshape(4, 16)
    f["class"] = np.array([3, 2, 1, 0])
