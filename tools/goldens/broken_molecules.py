#!/usr/bin/env python3
"""Writes tests/fixtures/broken/{xyz,qm9,sdf,molecule_npz,tar}/: files of molecules that must be refused with one line each.

`python tools/goldens/broken_molecules.py` needs nothing but Python. tests/data/atoms/broken_molecules_test.cpp says what
each message must name; it fails when a file here has no entry there.
"""
import gzip
import shutil
from pathlib import Path

root = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "broken"
for kind in ("xyz", "qm9", "sdf", "molecule_npz", "tar"):
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

# --- QM9's own files -------------------------------------------------------------------------
properties = "\t".join(["0.5"] * 15)
hydrogen = f"2\ngdb 7\t{properties}\t\nH\t0\t0\t0\t0.1\nH\t0\t0\t0.7\t-0.1\n4400.5\n[H][H]\t[H][H]\nInChI=1S/H2/h1H\tInChI=1S/H2/h1H\n"


def qm9(name, *change):
    text = hydrogen
    for old, new in zip(change[::2], change[1::2]):
        assert old in text, old
        text = text.replace(old, new, 1)
    write(f"qm9/{name}.xyz", hydrogen + text)


write("qm9/empty.xyz", "")
qm9("negative_count", "2\n", "-2\n")
qm9("huge_count", "2\n", "999999999999\n")
qm9("word_as_count", "2\n", "two\n")
qm9("no_tag", "gdb 7", "gda 7")
qm9("index", "gdb 7", "gdb seven")
qm9("fourteen_properties", "\t0.5\t\n", "\t\n")
qm9("more_properties", "\t0.5\t\n", "\t0.5\t0.5\n")
qm9("word_as_property", "0.5", "half")
qm9("nan_property", "0.5", "nan")
qm9("half_exponent", "0.5", "5*^")
qm9("huge_exponent", "0.5", "5*^999")
qm9("unknown_element", "H\t0\t0\t0.7", "Q\t0\t0\t0.7")
qm9("no_charge", "\t-0.1\n", "\n")
qm9("more_columns", "\t-0.1\n", "\t-0.1\t3\n")
qm9("infinite_position", "0.7", "inf")
qm9("count_too_large", "2\n", "3\n")
qm9("count_too_small", "2\n", "1\n")
qm9("frequency", "4400.5", "4400.5 fast")
qm9("three_smiles", "[H][H]\t", "[H][H]\t[H]\t")
write("qm9/cut_atoms.xyz", hydrogen + hydrogen[: hydrogen.index("H\t0\t0\t0.7")])
write("qm9/cut_frequencies.xyz", hydrogen + hydrogen[: hydrogen.index("4400")])
write("qm9/cut_inchi.xyz", hydrogen + hydrogen[: hydrogen.index("InChI")])
write("qm9/binary.xyz", bytes(range(255, -1, -1)))

# --- SDF -------------------------------------------------------------------------------------
head = "a molecule\n     by hand          3D\n\n"
v2000 = head + """  2  1  0  0  0  0            999 V2000
    0.0000    0.0000    0.0000 C   0  0
    0.0000    0.0000    1.2000 O   0  0
  1  2  2  0
M  CHG  1   2  -1
M  END
> <energy>
-1.5

$$$$
"""
v3000 = head + """  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 2 1 0 0 0
M  V30 BEGIN ATOM
M  V30 1 C 0 0 0 0
M  V30 2 O 0 0 1.2 0
M  V30 END ATOM
M  V30 BEGIN BOND
M  V30 1 2 1 2
M  V30 END BOND
M  V30 END CTAB
M  END
$$$$
"""


def sdf(name, text, *change):
    for old, new in zip(change[::2], change[1::2]):
        assert old in text, old
        text = text.replace(old, new, 1)
    write(f"sdf/{name}.sdf", v2000 + text)


write("sdf/empty.sdf", "")
write("sdf/binary.sdf", bytes(range(256)))
sdf("version", v2000, "V2000", "V4000")
sdf("cut_header", head)
sdf("word_as_count", v2000, "  2  1  0", " xx  1  0")
sdf("negative_count", v2000, "  2  1  0", " -2  1  0")
sdf("count_too_large", v2000, "  2  1  0", "  3  1  0")
sdf("count_999", v2000, "  2  1  0", "999  1  0")
sdf("bonds_too_many", v2000, "  2  1  0", "  2  3  0")
sdf("unknown_element", v2000, " O  ", " R# ")
sdf("nan_position", v2000, "    1.2000", "       nan")
sdf("word_as_position", v2000, "    1.2000", "    one   ")
sdf("short_line", v2000, "    1.2000 O   0  0", "  1.2")
sdf("bond_beyond", v2000, "  1  2  2", "  1  3  2")
sdf("bond_zero", v2000, "  1  2  2", "  0  2  2")
sdf("bond_to_itself", v2000, "  1  2  2", "  2  2  2")
sdf("bond_type", v2000, "  1  2  2", "  1  2 77")
sdf("charge_code", v2000, "C   0  0", "C   0  9")
sdf("charge_of_none", v2000, "1   2  -1", "1   5  -1")
sdf("charges_cut", v2000, "1   2  -1", "8   2  -1")
sdf("no_end", v2000, "M  END\n", "")
sdf("cut_atoms", v2000[: v2000.index("    0.0000    0.0000    1.2")])
sdf("cut_properties", v2000[: v2000.index("M  END")])
sdf("no_field", v2000, "> <energy>\n", "energy\n")
sdf("nameless_field", v2000, "> <energy>", "> energy")
sdf("field_twice", v2000, "$$$$", "> <energy>\n-2\n\n$$$$")
sdf("v3_no_prefix", v3000, "M  V30 BEGIN ATOM", "BEGIN ATOM")
sdf("v3_no_ctab", v3000, "BEGIN CTAB", "BEGIN")
sdf("v3_no_counts", v3000, "COUNTS 2", "COUNT 2")
sdf("v3_huge_count", v3000, "COUNTS 2", "COUNTS 999999999999")
sdf("v3_negative_count", v3000, "COUNTS 2", "COUNTS -2")
sdf("v3_word_count", v3000, "COUNTS 2", "COUNTS two")
sdf("v3_bond_count", v3000, "COUNTS 2 1", "COUNTS 2 2")
sdf("v3_query_atom", v3000, "2 O", "2 [O,N]")
sdf("v3_index_twice", v3000, "2 O", "1 O")
sdf("v3_position", v3000, "1.2", "up")
sdf("v3_bond_beyond", v3000, "1 2 1 2", "1 2 1 9")
sdf("v3_charge", v3000, "0 0 0 0", "0 0 0 0 CHG=+-1")
sdf("v3_continued_into_nothing", v3000, "0 0 1.2 0", "0 0 1.2 -", "M  V30 END ATOM", "END ATOM")
sdf("v3_cut_block", v3000[: v3000.index("M  V30 END BOND")])
sdf("v3_no_m_end", v3000, "M  END\n", "")

# --- MD17's arrays ---------------------------------------------------------------------------
import io
import struct
import zipfile


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def f8(shape, value=0.5):
    count = 1
    for n in shape:
        count *= n
    return npy("<f8", tuple(shape), struct.pack(f"<{count}d", *([value] * count)))


def u1(shape, *values):
    return npy("|u1", tuple(shape), bytes(values))


def molecule(name, **change):
    arrays = {"R": f8((3, 2, 3)), "z": u1((2,), 6, 8), "E": f8((3, 1)), "F": f8((3, 2, 3)), **change}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for key, array in arrays.items():
            if array is not None:
                archive.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), array)
    write(f"molecule_npz/{name}.npz", data.getvalue())


write("molecule_npz/empty.npz", b"")
molecule("no_places", R=None)
molecule("no_numbers", z=None)
molecule("two_of_places", coords=f8((3, 2, 3)))
molecule("two_of_energy", energies=f8((3,)))
molecule("flat_places", R=f8((3, 6)))
molecule("places_of_two", R=f8((3, 2, 2)))
molecule("half_places", R=npy("<f2", (3, 2, 3), bytes(36)))
molecule("nan_place", R=f8((3, 2, 3), float("nan")))
molecule("no_frames", R=f8((0, 2, 3)), E=None, F=None)
molecule("numbers_of_three", z=u1((3,), 6, 8, 1))
molecule("number_zero", z=u1((2,), 6, 0))
molecule("number_119", z=u1((2,), 6, 119))
molecule("real_numbers", z=f8((2,), 6.0))
molecule("numbers_change", z=u1((3, 2), 6, 8, 6, 8, 8, 6))
molecule("energies_of_four", E=f8((4,)))
molecule("energies_of_atoms", E=f8((3, 2)))
molecule("forces_of_two", F=f8((2, 2, 3)))
molecule("flat_forces", F=f8((3, 6)))
molecule("cut_array", F=f8((3, 2, 3))[:-1])

# --- tar -------------------------------------------------------------------------------------
import tarfile


def tar(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, text in files:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


long = hydrogen * 40
write("tar/empty.tar", b"")
write("tar/text.tar", "not an archive\n" * 100)
write("tar/binary.tar", bytes(range(256)) * 8)
write("tar/nothing_inside.tar", tar([("readme.txt", "no molecule\n")]))
write("tar/broken_inside.tar", tar([("a.xyz", good), ("b/c.xyz", "3\n\nO 0 0 0\n")]))
write("tar/empty_inside.tar", tar([("a.xyz", "")]))
write("tar/cut.tar", tar([("a.xyz", long)])[:3000])
write("tar/cut_gzip.tar.gz", gzip.compress(tar([("a.xyz", long)]), mtime=0)[:150])
