#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/oc20/: a file as OC20 publishes its structures, and what tools/oc20_export.py makes of it.

    pip install lmdb numpy
    python3 tools/goldens/oc20_fixtures.py

data.lmdb holds pickled objects of a class of torch_geometric's name, in its old layout (attributes) and its new one (a mapping in
a store); train.aselmdb is the export. Two slabs of two copper atoms and one oxygen atom.
"""
import pickle
import sys
import types
from pathlib import Path

import lmdb
import numpy as np

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from oc20_export import export  # noqa: E402

module = types.ModuleType("torch_geometric.data.data")
Data = type("Data", (), {"__module__": module.__name__})
Store = type("GlobalStorage", (), {"__module__": module.__name__})
module.Data, module.GlobalStorage = Data, Store
for name in ("torch_geometric", "torch_geometric.data"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[module.__name__] = module


def structure(shift):
    pos = np.array([[0, 0, 0], [1.25, 1.25, 1.75], [1.25, 0.0, 3.0 + shift]], np.float32)
    return {
        "atomic_numbers": np.array([29, 29, 8], np.float32),
        "pos": pos,
        "pos_relaxed": pos + np.array([[0, 0, 0], [0, 0, 0.0625], [2.5, 0.125, -0.25]], np.float32),
        "cell": np.array([[[2.5, 0, 0], [0, 2.5, 0], [0, 0, 20]]], np.float32),
        "tags": np.array([0, 1, 2]),
        "fixed": np.array([1, 0, 0]),
        "natoms": 3,
        "y_init": 1.5,
        "y_relaxed": -1.5 - shift,
        "sid": 100 + int(4 * shift),
    }


old, new, store = Data(), Data(), Store()
vars(old).update(structure(0.0))
vars(store)["_mapping"] = structure(0.5)
vars(new)["_store"] = store
folder = root / "tests/fixtures/molecules/oc20"
folder.mkdir(parents=True, exist_ok=True)
for path in folder.iterdir():
    path.unlink()
with lmdb.open(str(folder / "data.lmdb"), subdir=False, lock=False, meminit=True) as file:
    with file.begin(write=True) as writing:
        for number, data in enumerate((old, new)):
            writing.put(str(number).encode(), pickle.dumps(data, protocol=4))
        writing.put(b"length", pickle.dumps(2, protocol=4))
export([folder / "data.lmdb"], folder / "train.aselmdb")
