#!/usr/bin/env python3
"""Writes tests/goldens/baseline_transformer_{query,head,raw,rotary}.safetensors: state dicts of the public BaselineTransformer
(Qualcomm-AI-research/geometric-algebra-transformer, 1.4.3) with random weights, inputs, its outputs in float64, alone and
with a mask for each head (half of them inside objects), and the gradients of a weighted sum of the outputs.

    git clone https://github.com/Qualcomm-AI-research/geometric-algebra-transformer gatr
    pip install torch einops opt_einsum numpy safetensors && python tools/goldens/baseline_transformer.py gatr

query: multi-query, queries twice as wide as width / heads, the form of the scaling study; head: multi-head; raw: as the
N-body experiment has it (mass, position and velocity in, position out), within the wrapper `net`; rotary: with a rotary
encoding of the order of tokens.
"""
import sys
import types
from pathlib import Path

import torch
from safetensors.torch import save_file

folder = Path(__file__).resolve().parents[2] / "tests" / "goldens"


def without_xformers():
    """The public code imports xformers, whose attention is not used here."""
    package, ops = types.ModuleType("xformers"), types.ModuleType("xformers.ops")
    ops.AttentionBias = type("AttentionBias", (), {})
    ops.memory_efficient_attention = None
    package.ops = ops
    sys.modules.update({"xformers": package, "xformers.ops": ops})


def golden(name, prefix, inputs, outputs, **options):
    from gatr.baselines.transformer import BaselineTransformer
    from gatr.layers.attention.positional_encoding import ApplyRotaryPositionalEncoding
    torch.manual_seed(7)
    net = BaselineTransformer(in_channels=inputs, out_channels=outputs, **options).double()
    for part in net.modules():  # frequencies of rotary encodings, which their code rounds to float32, as they are meant
        if isinstance(part, ApplyRotaryPositionalEncoding):
            steps = torch.arange(0, part.num_channels, 2, dtype=torch.float64) / part.num_channels
            part.inv_freq = 4096.0 ** -steps
    with torch.no_grad():
        for parameter in net.parameters():
            scale = 0.5 if parameter.dim() < 2 else parameter.shape[-1] ** -0.5
            parameter.copy_(torch.randn_like(parameter) * scale)
    x = torch.randn(2, 7, inputs, dtype=torch.float64)  # two scenes of seven tokens
    objects = torch.tensor([0, 0, 0, 1, 2, 2, 2])  # of three objects each
    heads = options["num_heads"]
    inside = objects[:, None] == objects[None, :]
    mask = torch.stack([inside if h < heads // 2 else torch.ones_like(inside) for h in range(heads)])
    factors = torch.randn(2, 7, outputs, dtype=torch.float64)
    tensors = {"inputs": x, "factors": factors, "offsets": torch.tensor([0, 7, 14]),
               "object_offsets": torch.tensor([0, 3, 4, 7, 10, 11, 14])}
    tensors.update({"weights." + prefix + key: value for key, value in net.state_dict().items()})
    for attention, given in (("global", None), ("hierarchical", mask)):
        y = net(x, attention_mask=given)
        net.zero_grad()
        (y * factors).sum().backward()
        tensors[attention + ".outputs"] = y
        tensors.update({attention + ".gradient." + key: p.grad.clone() for key, p in net.named_parameters()})
    save_file({key: value.detach().reshape(14, -1).contiguous() if value.dim() == 3 else value.detach().contiguous()
               for key, value in tensors.items()}, folder / ("baseline_transformer_" + name + ".safetensors"))


def main():
    without_xformers()
    sys.path.insert(0, sys.argv[1])
    golden("query", "", 9, 4, hidden_channels=12, num_blocks=2, num_heads=4, multi_query=True,
           increase_hidden_channels=2)
    golden("head", "", 9, 4, hidden_channels=12, num_blocks=2, num_heads=4, multi_query=False)
    golden("rotary", "", 9, 4, hidden_channels=12, num_blocks=2, num_heads=4, multi_query=True, pos_encoding=True)
    golden("raw", "net.", 7, 3, hidden_channels=12, num_blocks=2, num_heads=2, multi_query=False)


if __name__ == "__main__":
    main()
