#!/usr/bin/env python3
"""Writes tests/fixtures/pytorch/ with torch.save: `python tools/goldens/pytorch_fixtures.py` (torch 2.13, numpy 2).

The numbers are simple on purpose: tests/data/containers/pytorch_zip_test.cpp states them again.
"""
import zipfile
from collections import OrderedDict
from pathlib import Path

import torch
from torch import nn

folder = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "pytorch"
folder.mkdir(parents=True, exist_ok=True)


def save(name, what, **options):
    torch.save(what, folder / name, **options)


# A module's own state dict: OrderedDict with _metadata, plain tensors.
torch.manual_seed(0)
module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
with torch.no_grad():
    module[0].weight.copy_(torch.arange(6.0).view(3, 2))
    module[0].bias.copy_(torch.tensor([0.5, -0.5, 0.25]))
save("module.pt", module.state_dict())

# Every element type that has a counterpart, a value each.
types = "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64".split()
save("types.pt", {t: torch.tensor([1, 0, 1, 1]).to(getattr(torch, t)) for t in types})

# Views: a transpose, a slice of the same storage, an expanded row, a scalar, an empty tensor, a parameter.
base = torch.arange(12.0).view(3, 4)
save("views.pt", {"base": base, "transposed": base.t(), "column": base[:, 1], "corner": base[1:, 2:],
                  "expanded": base[0].expand(2, 4), "scalar": torch.tensor(7, dtype=torch.int64),
                  "empty": torch.zeros(2, 0, 3), "parameter": nn.Parameter(base[2]), "tied": base})

# What trainers write: the weights under a key, an optimiser beside them, numbers, strings, None, lists.
optimiser = torch.optim.Adam(module.parameters())
module(torch.ones(4, 2)).sum().backward()
optimiser.step()
plain = OrderedDict((k, torch.full((2,), float(i))) for i, k in enumerate(["net._orig_mod.a.weight", "net._orig_mod.b"]))
save("lightning.ckpt", {"epoch": 3, "global_step": 10**12, "big": 10**30, "state_dict": plain,
                        "optimizer_states": [optimiser.state_dict()], "lr": 1e-3, "note": None, "flags": [True, False],
                        "hyper_parameters": {"device": torch.device("cpu"), "size": torch.Size([2, 3]), "where": Path("x")}})
save("nested.pt", {"model": {"layers": [{"w": torch.ones(2)}, {"w": torch.zeros(1)}], 5: torch.ones(1)}})

# Other pickle protocols, big endian.
for protocol in (2, 3, 4, 5):
    save(f"protocol{protocol}.pt", {"x": torch.arange(3), "y": nn.Parameter(torch.tensor([2.5]))}, pickle_protocol=protocol)
with zipfile.ZipFile(folder / "protocol2.pt") as source, zipfile.ZipFile(folder / "big_endian.pt", "w") as target:
    for name in source.namelist():
        data = source.read(name)
        if "/data/" in name:
            size = 8 if len(data) == 24 else 4
            data = b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))
        if name.endswith("byteorder"):
            data = b"big"
        target.writestr(zipfile.ZipInfo(name), data)

# What is refused.
save("legacy.pt", {"x": torch.ones(2)}, _use_new_zipfile_serialization=False)
save("whole_module.pt", nn.Linear(1, 1))
save("sparse.pt", {"x": torch.eye(2).to_sparse()})
save("complex.pt", {"x": torch.ones(2, dtype=torch.complex64)})
save("tensor_only.pt", torch.ones(2))
save("no_tensor.pt", {"epoch": 3})
torch.jit.script(nn.Linear(1, 1)).save(str(folder / "torchscript.pt"))
for path in sorted(folder.iterdir()):
    print(f"{path.stat().st_size:6d} {path.name}")
