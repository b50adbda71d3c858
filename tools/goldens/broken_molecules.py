#!/usr/bin/env python3
"""Writes tests/fixtures/broken/xyz/: files of molecules that must be refused with one line each.

`python tools/goldens/broken_molecules.py` needs nothing but Python. tests/data/broken_molecules_test.cpp says what
each message must name; it fails when a file here has no entry there.
"""
import gzip
import shutil
from pathlib import Path

root = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "broken"
for kind in ("xyz",):
    shutil.rmtree(root / kind, ignore_errors=True)


def write(name, data):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


# --- extended xyz ----------------------------------------------------------------------------
good = "2\nenergy=-1.5\nO 0 0 0\nH 0 0 1\n"
cube = 'Lattice="5 0 0 0 5 0 0 0 5"'


def xyz(name, data):
    write(f"xyz/{name}.xyz", data)


def one(name, comment, *rows):
    xyz(name, good + f"{len(rows)}\n{comment}\n" + "".join(row + "\n" for row in rows))


xyz("empty", "")
xyz("blank", "\n  \n\n")
xyz("binary", bytes(range(256)))
xyz("no_count", "O 0 0 0\nH 0 0 1\n")
xyz("negative_count", "-3\n\nO 0 0 0\n")
xyz("huge_count", "999999999999999999\n\nO 0 0 0\n")
xyz("overflowing_count", "99999999999999999999999\n\nO 0 0 0\n")
xyz("count_and_words", "2 atoms\n\nO 0 0 0\nH 0 0 1\n")
xyz("no_comment", good + "2\n")
xyz("cut_frame", good + "3\nenergy=-2\nO 0 0 0\nH 0 0 1\n")
xyz("cut_row", good + "2\nenergy=-2\nO 0 0 0\nH 0 0")
xyz("count_too_large", good.replace("2\n", "3\n", 1) + good)
xyz("count_too_small", good.replace("2\n", "1\n", 1) + good)
xyz("unknown_element", good.replace("H ", "Hx "))
xyz("capital_element", good.replace("H ", "CL "))
xyz("element_119", good.replace("H ", "119 "))
xyz("nan_position", good.replace("0 0 1", "0 nan 1"))
xyz("infinite_position", good.replace("0 0 1", "0 0 -inf"))
xyz("too_large_number", good.replace("0 0 1", "0 0 1e999"))
xyz("word_as_position", good.replace("0 0 1", "0 0 one"))
xyz("more_columns", good.replace("0 0 1", "0 0 1 0.5 0.5 0.5"))
xyz("cut_gzip", gzip.compress(good.encode() * 50, mtime=0)[:-10])
one("bad_properties", "Properties=species:S:1:pos:R", "O 0 0 0")
one("property_type", "Properties=species:S:1:pos:R:3:q:X:1", "O 0 0 0 1")
one("property_width", "Properties=species:S:1:pos:R:3:q:R:0", "O 0 0 0 1")
one("property_huge_width", "Properties=species:S:1:pos:R:3:q:R:99999999999", "O 0 0 0 1")
one("property_twice", "Properties=species:S:1:pos:R:3:q:R:1:q:R:1", "O 0 0 0 1 1")
one("no_species", "Properties=pos:R:3", "0 0 0")
one("no_positions", "Properties=species:S:1:q:R:3", "O 0 0 0")
one("two_dimensions", "Properties=species:S:1:pos:R:2", "O 0 0")
one("short_row", "Properties=species:S:1:pos:R:3:forces:R:3", "O 0 0 0 1 2 3", "H 0 0 1 1 2")
one("long_row", "Properties=species:S:1:pos:R:3:forces:R:3", "O 0 0 0 1 2 3 4")
one("word_as_force", "Properties=species:S:1:pos:R:3:forces:R:3", "O 0 0 0 1 ? 3")
one("real_as_integer", "Properties=species:S:1:pos:R:3:site:I:1", "O 0 0 0 1.5")
one("integer_as_logical", "Properties=species:S:1:pos:R:3:fixed:L:1", "O 0 0 0 1")
one("another_z", "Properties=species:S:1:pos:R:3:Z:I:1", "O 0 0 0 7")
one("z_too_large", "Properties=Z:I:1:pos:R:3", "300 0 0 0")
one("open_quote_in_row", "Properties=species:S:1:pos:R:3:label:S:1", 'O 0 0 0 "a b')
one("open_quote", cube + ' note="not closed', "O 0 0 0")
one("open_brace", cube + " v={1 2 3", "O 0 0 0")
one("open_bracket", cube + " v=[1, 2", "O 0 0 0")
one("ragged_matrix", cube + " v=[[1, 2], [3]]", "O 0 0 0")
one("deep_array", cube + " v=" + "[" * 5000 + "1", "O 0 0 0")
one("no_key", cube + " =5", "O 0 0 0")
one("no_value", cube + " energy=", "O 0 0 0")
one("key_twice", cube + " energy=1 energy=2", "O 0 0 0")
one("lattice_of_six", 'Lattice="5 0 0 0 5 0"', "O 0 0 0")
one("lattice_nan", 'Lattice="5 0 0 0 nan 0 0 0 5"', "O 0 0 0")
one("lattice_words", 'Lattice="5 0 0 0 five 0 0 0 5"', "O 0 0 0")
one("singular_cell", 'Lattice="5 0 0 0 5 0 5 5 0"', "O 0 0 0")
one("zero_cell", 'Lattice="0 0 0 0 0 0 0 0 0"', "O 0 0 0")
one("pbc_of_two", cube + ' pbc="T F"', "O 0 0 0")
one("pbc_words", cube + ' pbc="yes"', "O 0 0 0")
one("pbc_without_cell", 'Properties=species:S:1:pos:R:3 pbc="T T T"', "O 0 0 0")
