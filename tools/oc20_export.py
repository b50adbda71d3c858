#!/usr/bin/env python3
"""Writes OC20's IS2RE and IS2RS structures as a database of ASE, which `data.set = "oc20"` reads.

    pip install lmdb numpy torch torch_geometric
    python3 oc20_export.py is2res_train/10k/train/data.lmdb data/oc20/train.aselmdb
    python3 oc20_export.py is2res_train/all/val_id/data.lmdb data/oc20/valid.aselmdb

The published files hold pickled Python objects, which can run programs when they are read; weyl does not read them, and
this script only does so in your own Python. Of each structure it takes atomic_numbers, pos, cell, tags, fixed, and where they
are given pos_relaxed, y_relaxed and sid. Several files of one split are joined: the last argument is the output, which must
not be there yet. Rows are those of ASE's .aselmdb format (JSON packed by zlib), so that ASE with ase-db-backends reads
them too. Places are written to 1e-6 Angstrom, a float32's own precision.
"""
import argparse
import json
import pickle
import zlib
from pathlib import Path

import lmdb
import numpy as np

ROWS_AT_ONCE = 1000  # in a transaction


def fields_of(data):
    """What a torch_geometric Data object holds, of any version: its attributes before 2.0, a mapping in a store since."""
    members = vars(data)
    store = members.get("_store")
    if store is None:
        return {name: value for name, value in members.items() if value is not None}
    return dict(vars(store).get("_mapping", {}))


def array(values, kind, digits=None):
    values = np.asarray(values, dtype=kind)
    if not np.all(np.isfinite(values)):
        raise ValueError("numbers must be finite")
    if digits is not None:
        values = np.round(values, digits)
    return {"__ndarray__": [list(values.shape), str(values.dtype), values.ravel().tolist()]}


def row_of(data, number):
    fields = fields_of(data)
    for name in ("atomic_numbers", "pos", "cell", "tags"):
        if name not in fields:
            raise ValueError(f"'{name}' must be given; there are {sorted(fields)}")
    atoms = len(np.asarray(fields["atomic_numbers"]))
    fixed = fields.get("fixed", np.asarray(fields["tags"]) == 0)
    more = {"fixed": array(fixed, np.int64)}
    if "pos_relaxed" in fields:
        more["relaxed"] = array(np.asarray(fields["pos_relaxed"]).reshape(atoms, 3), float, 6)
    row = {
        "numbers": array(fields["atomic_numbers"], np.int64),
        "positions": array(np.asarray(fields["pos"]).reshape(atoms, 3), float, 6),
        "cell": array(np.asarray(fields["cell"]).reshape(3, 3), float, 6),
        "pbc": {"__ndarray__": [[3], "bool", [True, True, True]]},
        "tags": array(fields["tags"], np.int64),
        "unique_id": f"oc20-{number}",
        "ctime": 0.0,
        "mtime": 0.0,
        "user": "",
        "key_value_pairs": {},
        "data": more,
    }
    if "y_relaxed" in fields:
        row["energy"] = float(fields["y_relaxed"])
        if not np.isfinite(row["energy"]):
            raise ValueError(f"y_relaxed must be finite, is {row['energy']}")
    if "sid" in fields:
        row["key_value_pairs"]["sid"] = str(fields["sid"])
    return row


def packed(value):
    return zlib.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode())


def rows_in(path):
    """The structures of a file: the values of the keys 0, 1, 2 ..., of which none may be missing."""
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False, readahead=False) as file:
        with file.begin() as reading:
            numbers = {int(key) for key in reading.cursor().iternext(values=False) if key.isdigit()}
            said = reading.get(b"length")
            count = len(numbers) if said is None else int(pickle.loads(said))
            lacking = set(range(count)) - numbers
            if lacking or len(numbers) > count:
                raise SystemExit(f"{path}: must hold the keys 0 .. {count - 1} of its structures, holds {len(numbers)}"
                                 + (f" and not {min(lacking)}" if lacking else ""))
            for number in range(count):
                yield number, pickle.loads(reading.get(str(number).encode()))


def export(inputs, output):
    output = Path(output)
    if output.exists():
        raise SystemExit(f"{output}: must not be there yet")
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(output.name + ".partial")
    partial.unlink(missing_ok=True)
    count = 0
    with lmdb.open(str(partial), subdir=False, map_size=1 << 40, lock=False, sync=False, meminit=True) as file:
        writing = file.begin(write=True)
        for path in inputs:
            first = count
            for number, data in rows_in(path):
                count += 1
                try:
                    row = row_of(data, count)
                except ValueError as error:
                    raise SystemExit(f"{path}: structure {number}: {error}")
                writing.put(str(count).encode(), packed(row))
                if count % ROWS_AT_ONCE == 0:
                    writing.commit()
                    writing = file.begin(write=True)
            if count == first:
                raise SystemExit(f"{path}: must hold structures under the keys 0, 1, 2 ..., has none")
        for key, value in (("nextid", count + 1), ("deleted_ids", []), ("metadata", {})):
            writing.put(key.encode(), packed(value))
        writing.commit()
        file.sync(True)
    partial.rename(output)
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", help="data.lmdb of OC20")
    parser.add_argument("output", help="the .aselmdb file to be written")
    given = parser.parse_args()
    print(export(given.inputs, given.output), "structures")
