#!/usr/bin/env python3
"""Writes tests/fixtures/broken/{rigid,mesh}/, files that must be refused with one line each, and sound ones beside them in
tests/fixtures/rigid/ and tests/fixtures/meshes/.

`python tools/goldens/broken_bodies.py` needs nothing but Python. tests/data/bodies/rigid_scenes_test.cpp and mesh_file_test.cpp
say what each message must name; they fail when a file here has no entry there.
"""
import json
import math
import shutil
import struct
from pathlib import Path

fixtures = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
for kind in ("broken/rigid", "broken/mesh", "rigid", "meshes"):
    shutil.rmtree(fixtures / kind, ignore_errors=True)


def write(name, data):
    path = fixtures / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# --- scenes ----------------------------------------------------------------------------------
LETTERS = {"F64": "d", "F32": "f", "I64": "q", "U8": "B"}
corners = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def pose(frame, body):
    half = 0.05 * frame
    return [0.1 * frame, body, 2 - 0.1 * frame, 0, 0, math.sin(half), math.cos(half)]


def tensors():
    """Two scenes of one and of two tetrahedra, three frames each."""
    poses = [x for body in range(3) for frame in range(3) for x in pose(frame, body)]
    return {
        "shape_vertices": ("F64", [4, 3], corners),
        "shape_triangles": ("I64", [4, 3], faces),
        "shape_vertex_offsets": ("I64", [2], [0, 4]),
        "shape_triangle_offsets": ("I64", [2], [0, 4]),
        "scene_offsets": ("I64", [3], [0, 1, 3]),
        "shapes": ("I64", [3], [0, 0, 0]),
        "scales": ("F64", [3], [1, 2, 0.5]),
        "masses": ("F64", [3], [1, 1, 1]),
        "frictions": ("F64", [3], [0.4, 0.4, 0.8]),
        "restitutions": ("F64", [3], [0.3, 0.3, 0.7]),
        "poses": ("F32", [3, 3, 7], poses),
        "contacts": ("U8", [3, 3], [0, 0, 1, 0, 0, 0, 0, 3, 2]),
    }


metadata = {"format": "weyl.rigid_bodies", "format_version": "1", "shape_names": "tetrahedron", "frame_interval": "0.02083"}


def scenes(name, cut=0, said=None, **changes):
    said = metadata | (said or {})
    header, data = {"__metadata__": {k: v for k, v in said.items() if v is not None}}, b""
    for key, (kind, shape, values) in (tensors() | changes).items():
        if kind is None:
            continue
        part = struct.pack(f"<{len(values)}{LETTERS[kind]}", *values)
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    whole = struct.pack("<Q", len(text)) + text + data
    write(f"{name}.safetensors", whole[: len(whole) - cut])


def changed(key, at, value):
    kind, shape, values = tensors()[key]
    return {key: (kind, shape, values[:at] + [value] + values[at + 1 :])}


def broken(name, **options):
    scenes(f"broken/rigid/{name}", **options)


scenes("rigid/tetrahedra")
broken("cut", cut=5)
broken("another_format", said={"format": "weyl.nbody"})
broken("another_version", said={"format_version": "2"})
broken("no_interval", said={"frame_interval": None})
broken("interval_zero", said={"frame_interval": "0"})
broken("two_names", said={"shape_names": "a,b"})
broken("no_poses", poses=(None, [], []))
broken("poses_of_six", poses=("F32", [3, 3, 6], [0] * 54))
broken("poses_of_doubles", poses=("F64", *tensors()["poses"][1:]))
broken("nan_pose", **changed("poses", 7, math.nan))
broken("long_quaternion", **changed("poses", 6, 1.2))
broken("scene_without_objects", scene_offsets=("I64", [4], [0, 1, 1, 3]))
broken("offsets_from_one", scene_offsets=("I64", [3], [1, 2, 3]))
broken("offsets_beyond", scene_offsets=("I64", [3], [0, 1, 4]))
broken("no_offsets", scene_offsets=("I64", [0], []))
broken("corner_beyond", **changed("shape_triangles", 4, 4))
broken("negative_corner", **changed("shape_triangles", 4, -1))
broken("nan_vertex", **changed("shape_vertices", 5, math.nan))
broken("flat_triangle", **changed("shape_triangles", 0, 1))
broken("shape_without_faces", shape_triangle_offsets=("I64", [2], [0, 0]), shape_triangles=("I64", [0, 3], []))
broken("shape_beyond", **changed("shapes", 1, 1))
broken("scale_zero", **changed("scales", 0, 0))
broken("mass_nan", **changed("masses", 2, math.nan))
broken("contacts_four", **changed("contacts", 4, 4))
broken("contacts_of_four_frames", contacts=("U8", [3, 4], [0] * 12))


# --- meshes ----------------------------------------------------------------------------------
def obj(points=(0, 1, 2, 3), triangles=((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))):
    lines = [f"v {corners[3 * p]} {corners[3 * p + 1]} {corners[3 * p + 2]}" for p in points]
    return "\n".join(lines + ["f " + " ".join(map(str, t)) for t in triangles]) + "\n"


def stl(count=4, extra=b"", coordinate=None):
    data = b"made by hand".ljust(80, b" ") + struct.pack("<I", count)
    for t in range(4):
        values = [x for c in faces[3 * t : 3 * t + 3] for x in corners[3 * c : 3 * c + 3]]
        if coordinate is not None and t == 2:
            values[4] = coordinate
        data += struct.pack("<12fH", 0, 0, 0, *values, 0)
    return data + extra


def stl_text(end="endsolid\n", corner="vertex {} {} {}"):
    text = "solid tetrahedron\n"
    for t in range(4):
        text += "facet normal 0 0 0\n outer loop\n"
        for c in faces[3 * t : 3 * t + 3]:
            text += corner.format(*corners[3 * c : 3 * c + 3]) + "\n"
        text += " endloop\nendfacet\n"
    return (text + end).encode()


def ply(rows=("3 0 2 1", "3 0 1 3", "3 0 3 2", "3 1 2 3"), binary=False):
    head = f"""ply
format {'binary_little_endian' if binary else 'ascii'} 1.0
element vertex 4
property double x
property double y
property double z
element face {len(rows)}
property list uchar int vertex_indices
end_header
"""
    if binary:
        data = struct.pack("<12d", *corners)
        for row in rows:
            count, *indices = map(int, row.split())
            data += struct.pack(f"<B{len(indices)}i", count, *indices)
        return head.encode() + data
    lines = [" ".join(map(str, corners[3 * p : 3 * p + 3])) for p in range(4)]
    return (head + "\n".join(lines + list(rows)) + "\n").encode()


write("meshes/tetrahedron.obj", ("# a tetrahedron\no body\n" + obj()).encode())
write("meshes/tetrahedron_back.obj", obj(triangles=((-4, -2, -3), (-4, -3, -1), (-4, -1, -2), (-3, -2, -1)))
      .replace("f -4 -2 -3", "vn 0 0 1\nusemtl none\nf -4/1/1 -2//1 -3/7").encode())
write("meshes/tetrahedron.ply", ply())
write("meshes/tetrahedron_binary.ply", ply(binary=True))
write("meshes/tetrahedron.stl", stl())
write("meshes/tetrahedron_text.stl", stl_text())
for name, data in {
    "empty.obj": b"",
    "no_faces.obj": obj(triangles=()).encode(),
    "object_without_faces.obj": ("o one\n" + obj() + "o two\nv 5 5 5\n").encode(),
    "corner_beyond.obj": obj(triangles=((1, 2, 5),)).encode(),
    "corner_zero.obj": obj(triangles=((0, 1, 2),)).encode(),
    "corner_back.obj": obj(triangles=((-5, 1, 2),)).encode(),
    "corner_word.obj": b"v 0 0 0\nf a b c\n",
    "two_corners.obj": obj(triangles=((1, 2),)).encode(),
    "flat.obj": obj(triangles=((1, 2, 3), (1, 1, 2))).encode(),
    "nan_vertex.obj": b"v 0 0 nan\n",
    "two_numbers.obj": b"v 0 0\n",
    "words.obj": b"v zero 0 0\n",
    "empty.stl": b"",
    "cut.stl": stl()[:-10],
    "more.stl": stl(extra=b"1"),
    "huge_count.stl": stl(count=2**32 - 1),
    "nan_corner.stl": stl(coordinate=math.nan),
    "no_triangles.stl": stl_text("")[:18] + b"endsolid\n",
    "no_end.stl": stl_text(""),
    "four_corners.stl": stl_text().replace(b"endloop", b"vertex 0 0 0\nendloop"),
    "word.stl": stl_text(corner="vertex {} one {}"),
    "no_faces.ply": ply(rows=()),
    "corner_beyond.ply": ply(rows=("3 0 1 4",)),
    "negative_corner.ply": ply(rows=("3 0 1 -1",)),
    "two_corners.ply": ply(rows=("2 0 1",)),
    "two_corners_binary.ply": ply(rows=("2 0 1",), binary=True),
    "cut_face.ply": ply(rows=("3 0 1",)),
    "flat.ply": ply(rows=("3 0 1 1",)),
    "mesh.step": b"ISO-10303-21;\n",
}.items():
    stem, ending = name.split(".")
    write(f"broken/mesh/{stem}_{ending}.{ending}", data)
