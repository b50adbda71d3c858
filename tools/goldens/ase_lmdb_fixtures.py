#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/lmdb/ with the format's own tool (PyPI: ase, ase-db-backends, lmdb).

    python tools/goldens/ase_lmdb_fixtures.py

and tests/fixtures/broken/lmdb/ from it: files that must be refused with one line each. What the tests compare
(tests/data/atoms/ase_lmdb_test.cpp) are the numbers below. Written with ase 3.29.0, ase-db-backends 0.11.0 and
lmdb 3.0.0 (LMDB 0.9.36); times and names of rows are set, so that the same files come out.
"""
import os
import pickle
import shutil
import struct
import zlib
from pathlib import Path

import lmdb
import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from ase.db import connect
from ase.db.row import AtomsRow
from ase_db_backends import aselmdb

tests = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
molecules = tests / "molecules" / "lmdb"
broken = tests / "broken" / "lmdb"
os.environ["USER"] = "nobody"
aselmdb.now = lambda: 26.0
open_environment = lmdb.open
lmdb.open = lambda *where, **options: open_environment(*where, **{**options, "meminit": True})  # no bytes by chance


def row(atoms, name, **results):
    """A row as ASE makes it, but of a name and time that are always the same."""
    if results:
        atoms.calc = SinglePointCalculator(atoms, **results)
    made = AtomsRow(atoms)
    made.unique_id, made.ctime, made.user = name, 26.0, "nobody"
    return made


def database(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return connect(str(path), type="aselmdb")


def finished(path):
    for lock in (f"{path}-lock", f"{path}.lock"):
        Path(lock).unlink(missing_ok=True)


def water(shift):
    return Atoms("OHH", [[0, 0, shift], [0.76, 0.59, shift], [-0.76, 0.59, shift]])


# --- what ASE's rows may have -------------------------------------------------------------------
shutil.rmtree(molecules, ignore_errors=True)
path = molecules / "ase.aselmdb"
db = database(path)
first = water(0.0)
first.set_initial_charges([-0.8, 0.4, 0.4])
first.set_tags([0, 1, 2])
data = {"charge": -1, "spin": 2, "source": "a/b \u00e9", "mulliken_charges": np.array([-0.5, 0.25, 0.25]),
        "lowdin_spins": [1.0, 0.5, 0.5], "homo_energy": np.array([-7.5, -7.25]), "nl_energy": np.float64("nan"),
        "nested": {"steps": 12, "matrix": np.arange(6).reshape(2, 3)}, "warnings": [], "converged": True,
        "complex": np.array([1j]), "nothing": None}
db._write(row(first, "first", energy=-2080.123456789, forces=np.arange(9.0).reshape(3, 3) / 8,
              charges=[-0.6, 0.3, 0.3], magmoms=[0.0, 0.0, 1.0], dipole=[0.0, 0.5, 0.0]),
          {"config_type": "water", "converged_steps": 7, "ok": True, "score": 0.125}, data)
slab = Atoms("Au2", [[0, 0, 0], [1.5, 1.5, 2.0]], cell=[[3, 0, 0], [0, 3, 0], [0.5, 0, 20]], pbc=[True, True, False])
db._write(row(slab, "slab", energy=-7.0, forces=np.zeros((2, 3)), stress=[1, 2, 3, 4, 5, 6]), {}, {"charge": 0, "spin": 1})
for name in ("gone", "kept"):
    db._write(row(water(1.0), name, energy=-2081.0, forces=np.ones((3, 3))), {}, {"charge": 0, "spin": 1})
db.delete([3])
db.metadata = {"title": "fixtures"}
db.close()
finished(path)

# --- several files --------------------------------------------
for number, shifts in enumerate(((0.0, 0.5, 1.0), (1.5, 2.0))):
    path = molecules / "folder" / f"data.{number:04d}.aselmdb"
    db = database(path)
    for shift in shifts:
        db._write(row(water(shift), f"{shift}", energy=-2080.0 - shift, forces=np.full((3, 3), shift)), {},
                  {"charge": 0, "spin": 1})
    db.close()
    finished(path)

# --- as OMol25 has it: molecules, ions and radicals, several files beside what is no frame ------
SPECIES = [  # symbols, places in Angstrom, charge, multiplicity
    ("OHH", [[0, 0, 0.12], [0, 0.76, -0.48], [0, -0.76, -0.48]], 0, 1),
    ("OH", [[0, 0, 0], [0, 0, 0.97]], -1, 1),
    ("OH", [[0, 0, 0], [0, 0, 0.98]], 0, 2),
    ("OHHH", [[0, 0, 0.1], [0, 0.94, -0.2], [0.81, -0.47, -0.2], [-0.81, -0.47, -0.2]], 1, 1),
    ("NHHH", [[0, 0, 0.1], [0, 0.94, -0.27], [0.81, -0.47, -0.27], [-0.81, -0.47, -0.27]], 0, 1),
    ("NHHHH", [[0, 0, 0], [0.59, 0.59, 0.59], [-0.59, -0.59, 0.59], [-0.59, 0.59, -0.59], [0.59, -0.59, -0.59]], 1, 1),
    ("CHHH", [[0, 0, 0], [0, 1.08, 0], [0.935, -0.54, 0], [-0.935, -0.54, 0]], 0, 2),
    ("OO", [[0, 0, 0], [0, 0, 1.21]], 0, 3),
]
LEVELS = {"H": -13.6, "C": -1027.6, "N": -1482.9, "O": -2041.8}  # eV of an atom


def springs(symbols, places, charge, spin):
    """Energy and forces of springs between all atoms, 3 eV/A^2 from 1.2 A on, and of charge and spin."""
    energy = sum(LEVELS[s] for s in symbols) + 4.0 * charge * charge - 2.0 * charge + 0.5 * (spin - 1)
    forces = np.zeros((len(symbols), 3))
    for i in range(len(symbols)):
        for j in range(i):
            apart = places[i] - places[j]
            length = np.linalg.norm(apart)
            energy += 1.5 * (length - 1.2) ** 2
            forces[i] -= 3.0 * (length - 1.2) * apart / length
            forces[j] += 3.0 * (length - 1.2) * apart / length
    return float(energy), forces


drawn = np.random.RandomState(25)
for number in range(2):
    path = molecules / "omol" / f"data{number:04d}.aselmdb"
    db = database(path)
    for frame in range(20):
        symbols, places, charge, spin = SPECIES[frame % len(SPECIES)]
        places = np.round(np.array(places, float) + drawn.normal(size=(len(symbols), 3)) * 0.05, 6)
        energy, forces = springs(symbols, places, charge, spin)
        db._write(row(Atoms(symbols, places), f"{number}-{frame}", energy=energy, forces=forces), {},
                  {"charge": charge, "spin": spin, "num_atoms": len(symbols), "source": f"made/{number}/{frame}"})
    db.close()
    finished(path)
(molecules / "omol" / "metadata.npz").write_bytes(b"no frames")

# A branch over several leaves, and a value on pages of its own, by lmdb itself: rows of a few bytes.
path = molecules / "deep.aselmdb"
path.parent.mkdir(exist_ok=True)


def packed(value):
    return zlib.compress(aselmdb.encode(value).encode(), 9)


def plain(path, entries, **options):
    """A file by lmdb itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    environment = lmdb.open(str(path), subdir=False, map_size=1 << 24, **options)
    with environment.begin(write=True) as transaction:
        for key, value in entries.items():
            transaction.put(key.encode(), value)
    environment.close()
    finished(path)


def one(z, x):
    return packed({"numbers": [z], "positions": [[x, 0.0, 0.0]]})


argon = np.zeros((300, 3))
argon[:, 0] = np.arange(300) * 4
big = packed({"numbers": np.full(300, 18), "positions": argon + np.random.default_rng(1).normal(size=(300, 3))})
plain(path, {**{f"{i}": one(1 + i % 100, float(i)) for i in range(1, 100)}, "100": big, "nextid": packed(101)})

# --- files that must be refused -----------------------------------------------------------------
shutil.rmtree(broken, ignore_errors=True)
broken.mkdir(parents=True)
good = {"1": one(1, 0.0), "2": one(2, 0.5), "nextid": packed(3)}
PAGE = 4096


def write(name, contents):
    (broken / f"{name}.aselmdb").write_bytes(contents)


def rows(name, **change):
    entries = {**good, **{key.lstrip("_"): value for key, value in change.items()}}
    plain(broken / f"{name}.aselmdb", {key: value for key, value in entries.items() if value is not None})


rows("sound")
sound = (broken / "sound.aselmdb").read_bytes()
(broken / "sound.aselmdb").unlink()
deep = (molecules / "deep.aselmdb").read_bytes()


def patched(name, contents, *patches):
    """Bytes at an offset of the newer meta page (page 1 or 0), or of a page (number, offset)."""
    contents = bytearray(contents)
    for (page, offset), form, *values in patches:
        struct.pack_into(form, contents, page * PAGE + offset, *values)
    write(name, contents)


newer = max((0, 1), key=lambda page: struct.unpack_from("<Q", sound, page * PAGE + 144)[0])
root = struct.unpack_from("<Q", sound, newer * PAGE + 16 + 72 + 40)[0]
deep_newer = max((0, 1), key=lambda page: struct.unpack_from("<Q", deep, page * PAGE + 144)[0])
deep_root = struct.unpack_from("<Q", deep, deep_newer * PAGE + 16 + 72 + 40)[0]
first_entry = struct.unpack_from("<H", sound, root * PAGE + 16)[0]
first_child = struct.unpack_from("<H", deep, deep_root * PAGE + 16)[0]

write("empty", b"")
write("words", b"not a data base\n" * 1000)
write("cut_meta", sound[:100])
write("cut_pages", sound[: 2 * PAGE])
write("cut_deep", deep[: len(deep) - 5 * PAGE])
write("big_endian", bytes(16) + bytes.fromhex("BEEFC0DE") + bytes(2 * PAGE))
write("of_32_bit", bytes(12) + bytes.fromhex("DEC0EFBE") + bytes(2 * PAGE))
patched("version", sound, ((0, 20), "<I", 2), ((1, 20), "<I", 2))
patched("page_size", sound, ((0, 40), "<I", 3000), ((1, 40), "<I", 3000))
patched("too_deep", sound, ((0, 94), "<H", 33), ((1, 94), "<H", 33))
patched("duplicates", sound, ((newer, 92), "<H", 4))
patched("root_beyond", sound, ((newer, 128), "<Q", 1 << 40))
patched("root_is_meta", sound, ((newer, 128), "<Q", 1))
patched("not_its_number", sound, ((root, 0), "<Q", 77))
patched("branch_for_leaf", sound, ((root, 10), "<H", 1))
patched("free_space", sound, ((root, 14), "<H", 5000))
patched("no_entries", sound, ((root, 12), "<H", 16))
patched("entry_beyond", sound, *(((root, 16 + 2 * i), "<H", 4095) for i in range(3)))
patched("key_beyond", sound, ((root, first_entry + 6), "<H", 5000))
patched("value_beyond", sound, ((root, first_entry), "<I", 5000))
patched("sub_page", sound, ((root, first_entry + 4), "<H", 4))
patched("sub_table", sound, ((root, first_entry + 4), "<H", 2))
patched("long_nowhere", sound, ((root, first_entry + 4), "<H", 1))
patched("cycle", deep, ((deep_root, first_child), "<IH", deep_root, 0))
patched("child_beyond", deep, ((deep_root, first_child), "<IH", 0xFFFFFFFF, 0xFFFF))

patched("nothing", sound, ((newer, 94), "<H", 0), ((newer, 128), "<Q", (1 << 64) - 1))
rows("no_nextid", nextid=None)
plain(broken / "pickled.lmdb", {"0": pickle.dumps({"pos": [0.0]}, protocol=4), "length": pickle.dumps(1, protocol=4)})
rows("pickled_row", _2=pickle.dumps({"numbers": [1]}, protocol=4))
rows("gzip_row", _2=bytes.fromhex("1f8b0800"))
rows("plain_row", _2=b'{"numbers": [1]}')
rows("cut_row", _2=one(1, 0.0)[:-9])
rows("corrupt_row", _2=b"\x78\x9c" + bytes(range(255, 0, -5)))
rows("no_rows", nextid=packed(1))
rows("nextid_words", nextid=packed("three"))
rows("nextid_huge", nextid=packed(1 << 62))
rows("deleted_words", deleted_ids=packed(["1"]))
rows("missing_row", _2=None, other=one(1, 0.0))
rows("no_json", _2=zlib.compress(b'{"numbers": [1'))
rows("element_119", _2=packed({"numbers": [119], "positions": [[0.0, 0.0, 0.0]]}))
print(sum(file.stat().st_size for file in molecules.rglob("*") if file.is_file()), "bytes of fixtures,",
      sum(file.stat().st_size for file in broken.iterdir()), "of broken files")
