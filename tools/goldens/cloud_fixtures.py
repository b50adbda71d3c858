#!/usr/bin/env python3
"""Writes point clouds as pypcd4 (PCD, binary and compressed; LZF by python-lzf) and numpy (KITTI's scans, SemanticKITTI's labels) have
them, and laspy (LAS), with what is in them as numpy's .npz: tests/fixtures/clouds/{ascii,binary,compressed}.pcd, format_*.las,
sequence/velodyne/000000.bin, sequence/labels/000000.label, pcd.npz, las.npz, scan.npz, for tests/data/clouds/cloud_formats_test.cpp.
Then broken files, each of which must be refused with one line: tests/fixtures/broken/{pcd/*.pcd,las/*.las,lidar/*.bin}.

`python tools/goldens/cloud_fixtures.py` needs pypcd4 and laspy.
"""
from pathlib import Path
import struct

import laspy
import numpy as np
from pypcd4 import Encoding, PointCloud

out = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
clouds = out / "clouds"
random = np.random.default_rng(41)

# --- PCD: places (one of them nothing), a packed colour, a label, a byte and a double
points = 200
xyz = random.normal(size=(points, 3)).astype("f4").round(2)
xyz[50:] = xyz[50]  # so that LZF has something to copy
xyz[7] = np.nan
colours = random.integers(0, 256, size=(points, 3)).astype("u4")
packed = (colours[:, 0] << 16 | colours[:, 1] << 8 | colours[:, 2]).astype("u4")
label = (np.arange(points) % 5).astype("u2")
ring = (np.arange(points) % 128).astype("i1") - 64
time = 1e9 + np.arange(points) / 8
cloud = PointCloud.from_points(
    [xyz[:, 0], xyz[:, 1], xyz[:, 2], PointCloud.encode_rgb(colours.astype("u1")), label, ring, time],
    ("x", "y", "z", "rgb", "label", "ring", "time"),
    (np.float32, np.float32, np.float32, np.float32, np.uint16, np.int8, np.float64))
for encoding, name in ((Encoding.BINARY, "binary"), (Encoding.BINARY_COMPRESSED, "compressed")):
    cloud.save(clouds / f"{name}.pcd", encoding=encoding)
    again = PointCloud.from_path(clouds / f"{name}.pcd")  # what the program itself reads back
    assert np.array_equal(again.numpy(("x", "y", "z")), xyz, equal_nan=True)
with open(clouds / "ascii.pcd", "w") as file:  # as PCL has it: the packed colour as a whole number
    file.write("# .PCD v.7 - Point Cloud Data file format\nVERSION .7\nFIELDS x y z rgb label ring time\n"
               "SIZE 4 4 4 4 2 1 8\nTYPE F F F U U I F\nCOUNT 1 1 1 1 1 1 1\n"
               f"WIDTH {points // 2}\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\nDATA ascii\n")
    for p in range(points):
        places = " ".join("nan" if np.isnan(v) else repr(float(v)) for v in xyz[p])
        file.write(f"{places} {packed[p]} {label[p]} {ring[p]} {time[p]!r}\n".replace("np.float64(", "").replace(")", ""))
there = np.arange(points) != 7
np.savez(clouds / "pcd.npz", positions=xyz[there], rgb=colours[there].astype("i8"), label=label[there].astype("i8"),
         ring=ring[there].astype("i8"), time=time[there])

# --- KITTI
scan = random.normal(size=(64, 4)).astype("f4")
scan[:, 3] = np.abs(scan[:, 3]) / 8
semantic, instance = (np.arange(64) * 13 % 260).astype("u4"), (np.arange(64) % 3).astype("u4")
(clouds / "sequence" / "velodyne").mkdir(parents=True, exist_ok=True)
(clouds / "sequence" / "labels").mkdir(exist_ok=True)
scan.tofile(clouds / "sequence" / "velodyne" / "000000.bin")
(semantic | instance << 16).astype("<u4").tofile(clouds / "sequence" / "labels" / "000000.label")
np.savez(clouds / "scan.npz", scan=scan, label=semantic.astype("i8"), instance=instance.astype("i8"))

# --- LAS: each kind of point format, as laspy writes and reads it
answers = {}
for version, point_format in (("1.2", 3), ("1.4", 6), ("1.4", 8)):
    header_of_las = laspy.LasHeader(point_format=point_format, version=version)
    header_of_las.scales, header_of_las.offsets = [0.01, 0.01, 0.005], [500000.0, 5400000.0, -3.0]
    header_of_las.add_extra_dim(laspy.ExtraBytesParams(name="treeID", type=np.int32))
    header_of_las.add_extra_dim(laspy.ExtraBytesParams(name="height", type=np.uint16, scales=np.array([0.25]),
                                                       offsets=np.array([1.5])))
    las = laspy.LasData(header_of_las)
    n = 40
    las.x, las.y, las.z = (o + random.normal(size=n).round(2) for o in (500000.0, 5400000.0, 120.0))
    las.intensity, las.classification = random.integers(0, 65536, n), random.integers(0, 32, n)
    las.return_number, las.number_of_returns = random.integers(1, 4, n), random.integers(3, 6, n)
    las.user_data, las.point_source_id = random.integers(0, 256, n), random.integers(0, 65536, n)
    las.treeID, las.height = random.integers(-5, 99, n), 1.5 + 0.25 * random.integers(0, 200, n)
    las.gps_time = 1e8 + np.arange(n) / 64
    names = ["x", "y", "z", "intensity", "return_number", "number_of_returns", "classification", "user_data",
             "point_source_id", "gps_time", "treeID", "height"]
    if point_format == 3:
        las.scan_angle_rank = random.integers(-90, 91, n)
        las.red, las.green, las.blue = random.integers(0, 256, (3, n))  # as some programs have colours
    else:
        las.scan_angle = random.integers(-30000, 30001, n)
    if point_format == 8:
        las.red, las.green, las.blue = random.integers(0, 65536, (3, n))
        las.nir = random.integers(0, 65536, n)
    las.write(clouds / f"format_{point_format}.las")
    again = laspy.read(clouds / f"format_{point_format}.las")
    for name in names:
        answers[f"{point_format}_{name.lower()}"] = np.asarray(again[name], dtype="f8")
    answers[f"{point_format}_scan_angle"] = (np.asarray(again["scan_angle_rank"], dtype="f8") if point_format == 3
                                             else np.asarray(again["scan_angle"], dtype="f8") * 0.006)
    answers[f"{point_format}_intensity"] /= 257
    for name in ("red", "green", "blue", "nir"):
        if name in again.point_format.dimension_names:
            answers[f"{point_format}_{name}"] = np.asarray(again[name], dtype="f8") / (1 if point_format == 3 else 257)
np.savez(clouds / "las.npz", **answers)

# --- broken
whole = (clouds / "format_6.las").read_bytes()
broken = out / "broken" / "las"
broken.mkdir(exist_ok=True)
record = struct.unpack_from("<H", whole, 94)[0]  # where the record of extra bytes begins


def changed(form, place, *values, of=whole):
    bytes_ = bytearray(of)
    struct.pack_into(form, bytes_, place, *values)
    return bytes(bytes_)


for name, contents in {
    "empty": b"",
    "other": b"PLYF" + whole[4:],
    "cut_header": whole[:200],
    "version_2": changed("<BB", 24, 2, 0),
    "short_header": changed("<H", 94, 227),
    "long_header": changed("<H", 94, 65535, of=whole[:5000]),
    "compressed": changed("<B", 104, 6 | 0x80),
    "format_11": changed("<B", 104, 11),
    "short_points": changed("<H", 105, 29),
    "points_in_header": changed("<I", 96, 100),
    "points_behind": changed("<I", 96, 0xFFFFFFF0),
    "no_points": changed("<Q", 247, 0),
    "many_points": changed("<Q", 247, 2**60),
    "cut_points": whole[:-40],
    "scale_0": changed("<d", 131, 0.0),
    "scale_nan": changed("<d", 139, float("nan")),
    "huge_scale": changed("<d", 131, 1e308),
    "many_records": changed("<I", 100, 0xFFFFFFFF, of=changed("<H", record + 18, 5)),
    "long_record": changed("<H", record + 20, 65535),
    "odd_record": changed("<H", record + 20, 300),
    "extra_type": changed("<B", record + 54 + 2, 99),
    "extra_beyond": changed("<B", record + 54 + 2, 10),
}.items():
    (broken / f"{name}.las").write_bytes(contents)

broken = out / "broken" / "pcd"
broken.mkdir(exist_ok=True)


def header(data="ascii", **changes):
    lines = {"VERSION": ".7", "FIELDS": "x y z", "SIZE": "4 4 4", "TYPE": "F F F", "COUNT": "1 1 1", "WIDTH": "2",
             "HEIGHT": "1", "VIEWPOINT": "0 0 0 1 0 0 0", "POINTS": "2", "DATA": data}
    lines.update(changes)
    return "".join(f"{k} {v}\n" for k, v in lines.items() if v is not None).encode()


rows = b"1 2 3\n4 5 6\n"
floats = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
by_field = struct.pack("<6f", 1, 4, 2, 5, 3, 6)


def packed_with(body, size=24):
    return struct.pack("<II", len(body), size) + body


literal = bytes([23]) + by_field
files = {
    "empty": b"",
    "no_data": header()[: header().index(b"DATA")],
    "other_version": header(VERSION=".5") + rows,
    "unknown_word": b"PCD\n" + header() + rows,
    "twice": b"WIDTH 2\n" + header() + rows,
    "no_width": header(WIDTH=None) + rows,
    "no_z": header(FIELDS="x y w") + rows,
    "field_twice": header(FIELDS="x y z x", SIZE="4 4 4 4", TYPE="F F F F", COUNT="1 1 1 1") + b"1 2 3 4\n4 5 6 7\n",
    "short_size": header(SIZE="4 4") + rows,
    "odd_size": header(SIZE="4 4 3") + rows,
    "short_real": header(SIZE="4 4 2") + rows,
    "other_type": header(TYPE="F F X") + rows,
    "no_count": header(COUNT="1 1 0") + rows,
    "huge_count": header(COUNT="1 1 9999999") + rows,
    "negative_width": header(WIDTH="-2") + rows,
    "huge_width": header(WIDTH="4000000000", HEIGHT="4000000000", POINTS=None) + rows,
    "other_points": header(POINTS="3") + rows,
    "other_data": header("binary_zstd") + rows,
    "few_rows": header() + b"1 2 3\n",
    "more_rows": header() + rows + b"7 8 9\n",
    "short_row": header() + b"1 2 3\n4 5\n",
    "words": header() + b"1 2 3\n4 five 6\n",
    "no_place": header() + b"nan nan nan\nnan 1 2\n",
    "cut_binary": header("binary") + floats[:-1],
    "more_binary": header("binary") + floats + b"\0",
    "huge_binary": header("binary", WIDTH="4000000000", POINTS="4000000000") + floats,
    "cut_sizes": header("binary_compressed") + b"\0\0\0",
    "other_size": header("binary_compressed") + packed_with(literal, 25),
    "cut_packed": header("binary_compressed") + packed_with(literal)[:-1],
    "more_packed": header("binary_compressed") + packed_with(literal) + b"\0",
    "short_literal": header("binary_compressed") + packed_with(bytes([30]) + by_field),
    "back_too_far": header("binary_compressed") + packed_with(bytes([3]) + by_field[:4] + bytes([0x20, 200])),
    "too_long": header("binary_compressed") + packed_with(bytes([3]) + by_field[:4] + bytes([0xE0, 250, 0])),
    "ends_in_copy": header("binary_compressed") + packed_with(bytes([3]) + by_field[:4] + bytes([0x20])),
    "too_short": header("binary_compressed") + packed_with(bytes([3]) + by_field[:4]),
}
for name, contents in files.items():
    (broken / f"{name}.pcd").write_bytes(contents)

broken = out / "broken" / "lidar"
(broken / "velodyne").mkdir(parents=True, exist_ok=True)
(broken / "labels").mkdir(exist_ok=True)
(broken / "empty.bin").write_bytes(b"")
(broken / "cut.bin").write_bytes(scan.tobytes()[:-3])
bad = scan.copy()
bad[5, 1] = np.inf
bad.tofile(broken / "infinite.bin")
scan.tofile(broken / "velodyne" / "few_labels.bin")
semantic[:-1].tofile(broken / "labels" / "few_labels.label")
