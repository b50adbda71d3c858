#!/usr/bin/env python3
"""Writes tests/fixtures/broken/{safetensors,npy,npz,pytorch,poses,ply,points,frame_index}/: files that must be refused with one line each.

`python tools/goldens/broken_files.py` needs nothing but Python. tests/data/broken_files_test.cpp says what each
message must name; it fails when a file here has no entry there.
"""
import io
import json
import math
import pickle
import shutil
import struct
import zipfile
from pathlib import Path

root = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "broken"
for kind in ("safetensors", "npy", "npz", "pytorch", "poses", "ply", "points", "frame_index"):
    shutil.rmtree(root / kind, ignore_errors=True)


def write(name, data):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# --- safetensors -----------------------------------------------------------------------------
def safetensors(name, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    write(f"safetensors/{name}.safetensors", struct.pack("<Q", len(text) if length is None else length) + text + data)


def entry(begin, end, shape=(1,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


write("safetensors/empty.safetensors", b"")
write("safetensors/seven_bytes.safetensors", b"\0" * 7)
safetensors("truncated_header", {"a": entry(0, 4)}, length=5000)
safetensors("huge_header_length", {"a": entry(0, 4)}, b"\0" * 4, length=2**63)
safetensors("truncated_data", {"a": entry(0, 16, (4,))}, b"\0" * 10)
safetensors("trailing_data", {"a": entry(0, 4)}, b"\0" * 9)
safetensors("overlap", {"a": entry(0, 8, (2,)), "b": entry(4, 12, (2,))}, b"\0" * 12)
safetensors("hole", {"a": entry(0, 4), "b": entry(8, 12)}, b"\0" * 12)
safetensors("end_before_begin", {"a": entry(4, 0)}, b"\0" * 4)
safetensors("wrong_size", {"a": entry(0, 8)}, b"\0" * 8)
safetensors("unknown_dtype", {"a": entry(0, 4, dtype="F8_E5M2")}, b"\0" * 4)
safetensors("negative_shape", {"a": entry(0, 4, (-1,))}, b"\0" * 4)
safetensors("float_shape", {"a": entry(0, 4, (1.0,))}, b"\0" * 4)
safetensors("overflowing_shape", {"a": entry(0, 4, (2**33, 2**33))}, b"\0" * 4)
safetensors("hidden_overflow", {"a": entry(0, 0, (0, 2**33, 2**33))})
safetensors("too_many_dimensions", {"a": entry(0, 4, (1,) * 65)}, b"\0" * 4)
safetensors("duplicate_name", b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                              b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"\0")
safetensors("duplicate_key", b'{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"\0")
safetensors("metadata_number", {"__metadata__": {"epoch": 3}})
safetensors("not_json", b'{"a": nope}')
safetensors("not_utf8", b'{"\xff": {}}')
safetensors("array_header", b'[]      ')
safetensors("deep_nesting", b'{"a":{"shape":' + b"[" * 4000)
safetensors("missing_offsets", {"a": {"dtype": "F32", "shape": [1]}}, b"\0" * 4)
safetensors("hostile_name", {"a\nb\x1b[31m": {"dtype": "F32", "shape": [1]}}, b"\0" * 4)


# --- npy -------------------------------------------------------------------------------------
def npy_bytes(header="{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", data=b"\0" * 16, version=1, length=None):
    text = header.encode("latin1")
    count = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", count) + text + data


def npy(name, *args, **options):
    write(f"npy/{name}.npy", npy_bytes(*args, **options))


def header(descr="'<f8'", order="False", shape="(2,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


write("npy/empty.npy", b"")
write("npy/not_numpy.npy", b"PK\x03\x04 and so on")
npy("truncated_header", length=600)
npy("huge_header", version=2, length=2**32 - 1)
npy("future_version", version=9)
npy("truncated_data", data=b"\0" * 15)
npy("trailing_data", data=b"\0" * 17)
npy("object_array", header("'|O'"), pickle.dumps([1, 2]))
npy("structured", header("[('x', '<f8')]"))
npy("complex", header("'<c16'"))
npy("unicode_text", header("'<U2'"))
npy("negative_shape", header(shape="(-2,)"))
npy("overflowing_shape", header(shape="(4294967296, 4294967296, 2)"))
npy("no_shape", "{'descr': '<f8', 'fortran_order': False, }")
npy("code_in_header", "{'descr': __import__('os').system('true'), }")


# --- npz -------------------------------------------------------------------------------------
def archive(members, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as target:
        for name, data in members:
            info = zipfile.ZipInfo(name)  # dated 1980: the same bytes every time
            info.compress_type = method
            target.writestr(info, data)
    return buffer.getvalue()


good = archive([("x.npy", npy_bytes())])
write("npz/empty.npz", b"")
write("npz/not_a_zip.npz", b"\x93NUMPY\1\0")
write("npz/truncated.npz", good[:-30])
write("npz/damaged_data.npz", good.replace(b"\0" * 16, b"\1" + b"\0" * 15, 1))
write("npz/no_npy_inside.npz", archive([("readme.txt", b"hello")]))
write("npz/broken_member.npz", archive([("x.npy", npy_bytes(data=b""))]))
write("npz/object_member.npz", archive([("x.npy", npy_bytes(header("'|O'"), pickle.dumps([1, 2])))]))
write("npz/lzma.npz", archive([("x.npy", npy_bytes())], zipfile.ZIP_LZMA))
write("npz/bomb.npz", archive([("x.npy", npy_bytes(header("'|u1'", shape="(4000000,)"), b"\0" * 4000000))], zipfile.ZIP_DEFLATED))
central = good.rindex(b"PK\x01\x02")
lie = bytearray(good)  # the directory claims 1 GB from 90 bytes, deflated
struct.pack_into("<H", lie, central + 10, 8)
struct.pack_into("<I", lie, central + 24, 10**9)
write("npz/false_size.npz", bytes(lie))
encrypted = bytearray(good)
struct.pack_into("<H", encrypted, central + 8, 1)
struct.pack_into("<H", encrypted, 6, 1)
write("npz/encrypted.npz", bytes(encrypted))
twice = archive([("x.npy", npy_bytes()), ("y.npy", npy_bytes())]).replace(b"y.npy", b"x.npy")
write("npz/duplicate_name.npz", twice)


# --- PyTorch zip: pickles by hand, as protocol 2 writes them ----------------------------------
def s(text):
    raw = text.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def n(number):
    return b"\x8a\x08" + struct.pack("<q", number)


def c(module, name):
    return f"c{module}\n{name}\n".encode()


def t(*items):
    return b"(" + b"".join(items) + b"t"


def storage(kind="FloatStorage", key="0", count=4, tag="storage"):
    return t(s(tag), c("torch", kind), s(key), s("cpu"), n(count)) + b"Q"


def tensor(store=None, offset=0, shape=(4,), strides=(1,), function="_rebuild_tensor_v2", module="torch._utils"):
    arguments = t(store or storage(), n(offset), t(*map(n, shape)), t(*map(n, strides)), b"\x89", c("collections", "OrderedDict") + b")R")
    return c(module, function) + arguments + b"R"


def state(**entries):
    return b"\x80\x02}(" + b"".join(s(k) + v for k, v in entries.items()) + b"u."


def pytorch(name, program, members=(("data/0", b"\0" * 16),), order=b"little"):
    write(f"pytorch/{name}.pt", archive([("m/data.pkl", program), ("m/byteorder", order)]
                                        + [(f"m/{k}", v) for k, v in members]))


write("pytorch/empty.pt", b"")
write("pytorch/plain_pickle.pt", pickle.dumps({"x": 1}, protocol=2))
write("pytorch/truncated.pt", archive([("m/data.pkl", state(x=tensor()))])[:-40])
write("pytorch/no_data_pkl.pt", archive([("x.npy", npy_bytes())]))
write("pytorch/two_pickles.pt", archive([("a/data.pkl", state(x=tensor())), ("b/data.pkl", state(x=tensor()))]))
pytorch("cut_pickle", state(x=tensor())[:-9])
pytorch("empty_stack", b"\x80\x02R.")
pytorch("no_memo", b"\x80\x02h\x07.")
pytorch("old_protocol", pickle.dumps({"x": 1}, protocol=0))
pytorch("unknown_opcode", b"\x80\x02\xff.")
pytorch("system_call", b"\x80\x02" + c("os", "system") + t(s("touch /tmp/weyl-was-here")) + b"R.")
pytorch("odd_dict", b"\x80\x02}(" + s("x") + b"u.")
pytorch("missing_storage", state(x=tensor(storage(key="7"))))
pytorch("escaping_key", state(x=tensor(storage(key="../../etc/passwd"))))
pytorch("short_storage", state(x=tensor()), members=[("data/0", b"\0" * 12)])
pytorch("beyond_storage", state(x=tensor(offset=1)))
pytorch("negative_offset", state(x=tensor(offset=-1)))
pytorch("negative_stride", state(x=tensor(strides=(-1,))))
pytorch("overflowing_stride", state(x=tensor(shape=(2, 2), strides=(2**62, 2**62))))
pytorch("rank_mismatch", state(x=tensor(shape=(2, 2))))
pytorch("expanded_bomb", state(x=tensor(shape=(2**20, 2**20), strides=(0, 0))))
pytorch("overflowing_shape", state(x=tensor(shape=(2**40, 2**40), strides=(0, 0))))
pytorch("complex_storage", state(x=tensor(storage("ComplexFloatStorage", count=2), shape=(2,))))
pytorch("quantised", state(x=tensor(function="_rebuild_qtensor")))
pytorch("not_a_storage", state(x=tensor(b"N")))
pytorch("wrong_persistent_id", state(x=tensor(storage(tag="module"))))
pytorch("no_tensor", state(x=n(3)))
pytorch("duplicate_name", b"\x80\x02}(" + s("a.b") + tensor() + s("a") + b"}" + s("b") + tensor() + b"s" + b"u.")
pytorch("circle", b"\x80\x02}q\x00(" + s("x") + tensor() + s("self") + b"h\x00u.")
laughs = b"]q\x01"  # each list holds the one before nine times
for level in range(2, 22):
    laughs += b"](" + bytes([ord("h"), level - 1]) * 9 + b"eq" + bytes([level])
pytorch("billion_laughs", b"\x80\x02}(" + s("t") + tensor() + s("a") + b"(" + laughs + b"lu.")
pytorch("byte_order", state(x=tensor()), order=b"middle")
# --- poses -----------------------------------------------------------------------------------
pose = b"1305031098.6659 1.3405 0.6266 1.6575 0 0 0 1\n"
write("poses/binary.txt", b"\x00\x01\x02\x1b[31m 1 2 3 4 5 6 7\n")
write("poses/eleven_numbers.txt", b"1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0 0 0 1\n")
write("poses/empty.txt", b"")
write("poses/empty_cell.csv", b"1403636580838555648,4.6,,0.8,1,0,0,0\n")
write("poses/long_line.txt", pose + b"# " + b"x" * 70000 + b"\n")
write("poses/long_quaternion.txt", pose + b"1305031098.7 1.34 0.62 1.65 0 0 0 1.2\n")
write("poses/nine_columns.txt", b"1305031098.7 1.34 0.62 1.65 0 0 0 1 7\n")
write("poses/not_a_number.txt", pose + b"1305031098.7 1.34 oops 1.65 0 0 0 1\n")
write("poses/not_finite.txt", pose + b"1305031098.7 1.34 nan 1.65 0 0 0 1\n")
write("poses/only_comments.txt", b"# timestamp tx ty tz qx qy qz qw\n\n# nothing\n")
write("poses/other_separator.txt", b"1305031098.6;1.34;0.62;1.65;0;0;0;1\n")
write("poses/ragged.csv", b"1403636580838555648,4.6,-1.7,0.8,1,0,0,0,5\n1403636580839555648,4.6,-1.7,0.8,1,0,0,0\n")
write("poses/reflected.txt", b"1 0 0 0 0 1 0 0 0 0 -1 0\n")
write("poses/seconds.csv", b"1403636580.838,4.6,-1.7,0.8,1,0,0,0\n")
write("poses/seven_columns.txt", pose + b"1305031098.7 1.34 0.62 1.65 0 0 0\n")
write("poses/sheared.txt", b"1 0.2 0 0 0 1 0 0 0 0 1 0\n")
write("poses/short_row.csv", b"#timestamp,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n1403636580838555648,4.6,-1.7,0.8,1,0,0\n")
write("poses/time_goes_back.txt", b"# crlf\r\n1305031098.6659 1.3405 0.6266 1.6575 0 0 0 1\r\n1305031098.5 1.34 0.62 1.65 0 0 0 1\r\n")
write("poses/time_stands.txt", pose + pose)
write("poses/too_large.txt", pose + b"1305031098.7 1.34 1e999 1.65 0 0 0 1\n")
write("poses/trailing_comma.csv", b"1403636580838555648,4.6,-1.7,0.8,1,0,0,0,\n")
write("poses/wrong_order.csv", b"#timestamp [ns],p_x,p_y,p_z,q_x,q_y,q_z,s\n1403636580838555648,4.6,-1.7,0.8,0,0,0,1\n")
write("poses/zero_quaternion.txt", b"1305031098.7 1.34 0.62 1.65 0 0 0 0\n")
for path in sorted(root.rglob("*.*")):
    print(f"{path.stat().st_size:6d} {path.relative_to(root)}")


# --- PLY and text of points ---------------------------------------------------------------------
def ply(name, elements, body, encoding="ascii", begin="ply\n"):
    head = begin + f"format {encoding} 1.0\n" + elements + "end_header\n"
    write(f"ply/{name}.ply", head.encode() + (body if isinstance(body, bytes) else body.encode()))


xyz = "property float x\nproperty float y\nproperty float z\n"
two = "element vertex 2\n" + xyz
faces = "element face 1\nproperty list uchar int vertex_indices\n"
points = struct.pack("<6f", 0, 0, 0, 1, 2, 3)
write("ply/empty.ply", b"")
write("ply/not_ply.ply", b"OFF\n1 0 0\n0 0 0\n")
write("ply/no_end_header.ply", b"ply\nformat ascii 1.0\nelement vertex 1\n")
write("ply/no_format.ply", b"ply\nelement vertex 1\n" + xyz.encode() + b"end_header\n0 0 0\n")
write("ply/long_line.ply", b"ply\ncomment " + b"x" * 5000 + b"\n")
ply("other_format", two, "", "binary_middle_endian")
ply("no_vertex", faces, "3 0 1 2\n")
ply("no_points", "element vertex 0\n" + xyz, "")
ply("no_z", "element vertex 1\nproperty float x\nproperty float y\n", "0 0\n")
ply("list_z", "element vertex 1\nproperty float x\nproperty float y\nproperty list uchar float z\n", "0 0 1 0\n")
ply("twice", two + "property float x\n", "0 0 0 0\n0 0 0 0\n")
ply("unknown_type", "element vertex 1\nproperty half x\n", "0\n")
ply("unknown_word", "vertices 2\n", "")
ply("negative_count", "element vertex -1\n" + xyz, "")
ply("huge_count", "element vertex 4000000000000000000\n" + xyz, points, "binary_little_endian")
ply("huge_text", "element vertex 4000000000000000000\n" + xyz, "0 0 0\n")
ply("cut", two, "0 0 0\n\n\n\n\n\n\n")
ply("cut_binary", two, points[:-4], "binary_little_endian")
ply("short_row", two, "0.0 0.0 0.0\n1.0 2.0\n")
ply("long_row", two, "0 0 0\n1 2 3 4\n")
ply("words", two, "0 0 0\n1 two 3\n")
ply("not_finite", two, "0 0 0\n1 nan 3\n")
ply("not_finite_binary", two, struct.pack("<6f", 0, 0, 0, 1, math.inf, 3), "binary_little_endian")
ply("colour_above", two + "property uchar red\n", "0 0 0 255\n0 0 0 256\n")
ply("cut_faces", two + faces, "0 0 0\n1 2 3\n")
ply("cut_faces_binary", two + faces, points + b"\x03\0\0\0\0", "binary_little_endian")
ply("huge_list", two + faces.replace("uchar", "uint"), points + b"\xff" * 8, "binary_little_endian")
ply("negative_list", two + faces.replace("uchar", "int"), points + b"\xff" * 8, "binary_little_endian")
ply("real_list", two + faces.replace("uchar", "float"), points, "binary_little_endian")
ply("more_behind", two, points + b"\0\1", "binary_little_endian")
ply("changed_line_ends", two, struct.pack("<6f", 0, 0, 0, 1, 2, 3).replace(b"\0\0\x80?", b"\r\n\0\x80?"), "binary_little_endian")

for name, body in {
    "empty": b"",
    "only_comments": b"# nothing\n// here\n",
    "only_names": b"x,y,z\n",
    "two_columns": b"0 1\n1 2\n",
    "fewer_columns": b"0 1 2 3\n1 2 3\n",
    "more_columns": b"0 1 2\n1 2 3 4\n",
    "fewer_commas": b"0,1,2\n1,2\n",
    "empty_cell": b"0,1,2\n1,,2\n",
    "trailing_comma": b"0,1,2,\n",
    "two_in_a_cell": b"0,1,2\n1 5,2,3\n",
    "mixed_separators": b"0 1 2\n1,2,3\n",
    "semicolons": b"0;1;2\n1;2;3\n",
    "decimal_commas": b"0,5 1,5 2,5\n",
    "words": b"0 1 2\n0 one 2\n",
    "not_finite": b"0 1 2\n\n0 nan 2\n",
    "infinite": b"0 1 2\n0 1 -inf\n",
    "too_large": b"0 1 2\n0 1 1e999\n",
    "no_z": b"x y intensity\n0 1 2\n",
    "x_twice": b"x y z x\n0 1 2 3\n",
    "more_names": b"x y z red\n0 1 2\n",
    "two_headers": b"x y z\nx y z\n0 1 2\n",
    "molecule": b"3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n",
    "symbols": b"C 0 0 0\nH 0 0 1\n",
    "molecule_no_comment": b"3\n\n8 0 0 0\n1 0 0 1\n1 0 1 0\n",
    "counted": b"3\n0 1 2\n3 4 5\n",
    "binary": b"\0\1\2\x1b[31m 1 2\n",
}.items():
    write(f"points/{name}.txt", body)

# --- indices of streams of frames ------------------------------------------------------------
def frame_index(name, common=None, cut=None, **columns):
    """Of three samples with one state; `columns` and `common` replace what a sound index has, None leaves it out."""
    all_columns = {
        "places": ("U64", (3, 2), struct.pack("<6Q", 0, 0, 40, 0, 90, 0)),
        "isolated": ("I64", (1,), struct.pack("<q", 1)),
        "sizes": ("U32", (3,), struct.pack("<3I", 4, 1, 5)),
        "state_0": ("U16", (3,), struct.pack("<3H", 0, 1, 2)),
    } | columns
    sound = {"labels": ["energy"], "keys": {"energy": "energy", "forces": "f"}, "left_out": {"forces": "some lack it"},
             "unread": ["x"], "warnings": [], "config_types": ["", "bulk"], "typical_nodes": 3.5, "periodic": 0}
    common = common if isinstance(common, (str, dict)) else sound if common is None else None
    text = json.dumps({k: v for k, v in common.items() if v is not None}) if isinstance(common, dict) else common
    header, data = {"__metadata__": {} if text is None else {"frames_in_common": text}}, b""
    for column, value in all_columns.items():
        if value is not None:
            header[column] = {"dtype": value[0], "shape": list(value[1]), "data_offsets": [len(data), len(data) + len(value[2])]}
            data += value[2]
    head = json.dumps(header).encode()
    whole = struct.pack("<Q", len(head)) + head + data
    write(f"frame_index/{name}.safetensors", whole[:cut])


sound = {"labels": ["energy"], "keys": {"energy": "energy"}, "left_out": {}, "unread": [], "warnings": [],
         "config_types": [], "typical_nodes": 3.5, "periodic": 0}
frame_index("cut", cut=-5)
frame_index("no_common", common=False)
frame_index("common_no_json", common="{labels")
frame_index("common_no_labels", common=sound | {"labels": None})
frame_index("label_a_number", common=sound | {"labels": [1]})
frame_index("keys_a_list", common=sound | {"keys": ["energy"]})
frame_index("no_nodes", common=sound | {"typical_nodes": 0})
frame_index("many_nodes", common=sound | {"typical_nodes": "many"})
frame_index("no_sizes", sizes=None)
frame_index("sizes_of_i64", sizes=("I64", (3,), struct.pack("<3q", 4, 1, 5)))
frame_index("sizes_in_rows", sizes=("U32", (3, 1), struct.pack("<3I", 4, 1, 5)))
frame_index("size_zero", sizes=("U32", (3,), struct.pack("<3I", 4, 0, 5)))
frame_index("places_of_two", places=("U64", (2, 2), struct.pack("<4Q", 0, 0, 40, 0)))
frame_index("places_alone", places=("U64", (3,), struct.pack("<3Q", 0, 40, 90)))
frame_index("no_state", state_0=None)
frame_index("state_beyond", state_0=("U16", (3,), struct.pack("<3H", 0, 1, 3)))
frame_index("no_isolated", isolated=None)
frame_index("isolated_beyond", isolated=("I64", (1,), struct.pack("<q", 3)))
frame_index("isolated_negative", isolated=("I64", (1,), struct.pack("<q", -1)))
frame_index("isolated_twice", isolated=("I64", (2,), struct.pack("<2q", 1, 1)))
