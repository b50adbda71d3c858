#!/usr/bin/env python3
"""Writes tests/fixtures/points/two_graphs.safetensors: two graphs of charged particles, five and three."""
import json, math, pathlib, struct

n, offsets = 8, [0, 5, 8]
tensors = {
    "positions": ("F32", [n, 3], [math.sin(1.3 * i) for i in range(3 * n)]),
    "scalars": ("F32", [n, 1], [(-1.0) ** i for i in range(n)]),
    "vectors": ("F32", [n, 1, 3], [math.cos(0.7 * i) for i in range(3 * n)]),
    "offsets": ("I64", [3], offsets),
}
header, data = {}, b""
for name, (dtype, shape, values) in tensors.items():
    start = len(data)
    data += struct.pack("<%d%s" % (len(values), {"F32": "f", "I64": "q"}[dtype]), *values)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, len(data)]}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
path = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/points/two_graphs.safetensors"
path.write_bytes(struct.pack("<Q", len(text)) + text + data)
