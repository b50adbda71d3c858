#!/usr/bin/env python3
"""Writes files in the layouts of ScanObjectNN and ModelNet40 as h5py does: tests/fixtures/scans/main_split/*.h5 (two variants of
15 classes, with the masks of objects) and tests/fixtures/modelnet40/*.h5 (40 classes in parts, with normals and faces), for
tests/data/clouds/scans_test.cpp; and tests/fixtures/broken/h5/*.h5, each of which must be refused with one line.

`python tools/goldens/scan_fixtures.py` needs h5py and numpy.
"""
from pathlib import Path

import h5py
import numpy as np

out = Path(__file__).resolve().parents[2] / "tests" / "fixtures"


def clouds(samples, points, first=0):
    """Places without order that float32 holds exactly."""
    n = samples * points * 3
    return (((np.arange(n) + first) * 7919 % 4099) / 2048 - 1).astype("f4").reshape(samples, points, 3)


# ScanObjectNN: training_NAME.h5 and test_NAME.h5, each with `data`, `label` and `mask`; of 15 classes.
scans = out / "scans" / "main_split"
scans.mkdir(parents=True, exist_ok=True)
for variant, first in (("objectdataset", 0), ("objectdataset_augmentedrot_scale75", 5)):
    for split, samples in (("training", 30), ("test", 15)):
        with h5py.File(scans / f"{split}_{variant}.h5", "w") as f:
            f["data"] = clouds(samples, 48, first + (split == "test"))
            f["label"] = (np.arange(samples) % 15).astype("i4")
            f["mask"] = np.where(np.arange(samples * 48).reshape(samples, 48) % 7 == 0, -1, 3).astype("i4")

# ModelNet40: parts of a split, compressed, labels of one byte.
modelnet = out / "modelnet40"
modelnet.mkdir(exist_ok=True)
for name, samples, first in (("train0", 40, 1), ("train1", 20, 2), ("test0", 40, 3)):
    with h5py.File(modelnet / f"ply_data_{name}.h5", "w") as f:
        compressed = {"compression": "gzip", "compression_opts": 4}
        f.create_dataset("data", data=clouds(samples, 24, first), **compressed)
        f.create_dataset("label", data=(np.arange(samples) % 40).astype("u1")[:, None], **compressed)
        f.create_dataset("normal", data=np.tile(np.array([0, 1, 0], "f4"), (samples, 24, 1)), **compressed)
        f.create_dataset("faceId", data=np.zeros((samples, 24), "i4"), **compressed)

broken = out / "broken" / "h5"
broken.mkdir(exist_ok=True)
good, labels = clouds(3, 4), np.array([0, 1, 2], "i4")
nan = good.copy()
nan[1, 2, 0] = np.nan
for name, arrays in {
    "two_axes": {"data": good[:, :, 0], "label": labels},
    "two_coordinates": {"data": good[:, :, :2], "label": labels},
    "nan": {"data": nan, "label": labels},
    "words": {"data": np.array([["chair"] * 4] * 3, "S5"), "label": labels},
    "no_data": {"label": labels},
    "no_label": {"data": good},
    "few_labels": {"data": good, "label": labels[:2]},
    "real_labels": {"data": good, "label": labels.astype("f4")},
    "no_samples": {"data": good[:0], "label": labels[:0]},
    "no_points": {"data": good[:, :0], "label": labels},
}.items():
    with h5py.File(broken / f"{name}.h5", "w") as f:
        for key, values in arrays.items():
            f[key] = values
with h5py.File(broken / "group.h5", "w") as f:
    f.create_group("data")["points"] = good
    f["label"] = labels
with h5py.File(broken / "link.h5", "w") as f:
    f["data"] = h5py.ExternalLink("elsewhere.h5", "/data")
    f["label"] = labels
