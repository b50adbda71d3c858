#!/usr/bin/env python3
"""Writes point clouds as pypcd4 (PCD, binary and compressed; LZF by python-lzf) and numpy (KITTI's scans, SemanticKITTI's labels) have
them, with what is in them as numpy's .npz: tests/fixtures/clouds/{ascii,binary,compressed}.pcd, sequence/velodyne/000000.bin,
sequence/labels/000000.label, pcd.npz, scan.npz, for tests/data/clouds/cloud_formats_test.cpp. Then broken files, each of which must be
refused with one line: tests/fixtures/broken/pcd/*.pcd, tests/fixtures/broken/lidar/*.bin.

`python tools/goldens/cloud_fixtures.py` needs pypcd4.
"""
from pathlib import Path
import struct

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

# --- broken
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
