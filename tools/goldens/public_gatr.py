#!/usr/bin/env python3
"""Writes tests/goldens/gatr.safetensors: layers and small nets of the public Geometric Algebra Transformer with random
weights, two scenes, and what that code gives in float64.

    pip install torch einops opt_einsum safetensors numpy
    git clone https://github.com/Qualcomm-AI-research/geometric-algebra-transformer   # v1.4.3
    PYTHONPATH=geometric-algebra-transformer python tools/goldens/public_gatr.py

Tensors are named CASE.weights.PARAMETER, CASE.multivectors, CASE.scalars and so on, outputs CASE.out_multivectors and
CASE.out_scalars. Every number is random, also those that start at zero, so that a map that reads the wrong one is seen.
"""
import sys
import types
from pathlib import Path

import torch
from safetensors.torch import save_file

# Tables made in float64: by default their code divides its maps by norms that are rounded to float32.
torch.set_default_dtype(torch.float64)


def refuse(*args, **kwargs):
    raise NotImplementedError


# xformers, which nothing here needs: the class is asked for, the function never called.
operators = types.ModuleType("xformers.ops")
operators.AttentionBias = type("AttentionBias", (), {})
operators.memory_efficient_attention = refuse
sys.modules["xformers"] = types.ModuleType("xformers")
sys.modules["xformers.ops"] = operators

from gatr.layers.attention.config import SelfAttentionConfig  # noqa: E402
from gatr.layers.attention.positional_encoding import ApplyRotaryPositionalEncoding  # noqa: E402
from gatr.layers.attention.self_attention import SelfAttention  # noqa: E402
from gatr.layers.gatr_block import GATrBlock  # noqa: E402
from gatr.layers.layer_norm import EquiLayerNorm  # noqa: E402
from gatr.layers.linear import EquiLinear  # noqa: E402
from gatr.layers.mlp.config import MLPConfig  # noqa: E402
from gatr.layers.mlp.geometric_bilinears import GeometricBilinear  # noqa: E402
from gatr.layers.mlp.nonlinearities import ScalarGatedNonlinearity  # noqa: E402
from gatr.nets.axial_gatr import AxialGATr  # noqa: E402
from gatr.nets.gatr import GATr  # noqa: E402

IN, OUT, WIDTH, IN_SCALARS, OUT_SCALARS, SCALARS, HEADS = 3, 2, 4, 3, 2, 6, 2
numbers = {}


def draw(*shape):
    return torch.randn(*shape)


def prepared(module):
    """Random weights; frequencies of rotary encodings, which their code rounds to float32, as they are meant."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(draw(*parameter.shape) * (0.5 if parameter.dim() < 2 else 0.7 / parameter.shape[1] ** 0.5))
    for part in module.modules():
        if isinstance(part, ApplyRotaryPositionalEncoding):
            steps = torch.arange(0, part.num_channels, 2) / part.num_channels
            part.inv_freq = 4096.0 ** -steps
    return module.double().eval()


def keep(case, module=None, **tensors):
    for name, parameter in (module.named_parameters() if module is not None else ()):
        numbers[f"{case}.weights.{name}"] = parameter.detach().clone()
    for name, tensor in tensors.items():
        if tensor is not None:
            numbers[f"{case}.{name}"] = tensor.detach().clone().contiguous()


def multivectors(*shape):
    """With a point of next to no weight, where distances fade."""
    x = draw(*shape, 16)
    x.view(-1, 16)[1, 14] = 0.02
    return x


def scene_of(width, scalars, items=5):
    return multivectors(2, items, width), draw(2, items, scalars)


def linear(case, scalars, out_scalars):
    layer = prepared(EquiLinear(IN, OUT, in_s_channels=scalars, out_s_channels=out_scalars))
    mv, s = multivectors(6, IN), None if scalars is None else draw(6, scalars)
    out_mv, out_s = layer(mv, s)
    keep(case, layer, multivectors=mv, scalars=s, out_multivectors=out_mv, out_scalars=out_s)


def attention_config(**other):
    return SelfAttentionConfig(num_heads=HEADS, in_mv_channels=WIDTH, out_mv_channels=WIDTH, in_s_channels=SCALARS,
                               out_s_channels=SCALARS, **other)


def attention(case, mask=None, **other):
    layer = prepared(SelfAttention(attention_config(**other)))
    mv, s = scene_of(WIDTH, SCALARS)
    out_mv, out_s = layer(mv, scalars=s, attention_mask=mask)
    keep(case, layer, multivectors=mv, scalars=s, out_multivectors=out_mv, out_scalars=out_s)


def inside_objects():
    """Half of the heads see the objects of nodes 0, 1 and 2, 3, 4 of a scene, the others all of it."""
    mask = torch.ones(1, HEADS, 5, 5, dtype=torch.bool)
    mask[:, :HEADS // 2, :2, 2:] = False
    mask[:, :HEADS // 2, 2:, :2] = False
    return mask


def net(case, join_reference="data", axial=False, gradients=False, attention=None, scalars=IN_SCALARS,
        out_scalars=OUT_SCALARS, blocks=None, **other):
    kind = AxialGATr if axial else GATr
    sizes = dict(in_mv_channels=IN, out_mv_channels=OUT, hidden_mv_channels=WIDTH, in_s_channels=scalars,
                 out_s_channels=out_scalars, hidden_s_channels=SCALARS, num_blocks=blocks or (3 if axial else 2))
    model = prepared(kind(attention=SelfAttentionConfig(num_heads=HEADS, **(attention or {})), mlp=MLPConfig(),
                          **sizes, **other))
    shape = (2, 3, 4) if axial else (2, 5)
    mv, s = multivectors(*shape, IN), None if scalars is None else draw(*shape, scalars)
    out_mv, out_s = model(mv, scalars=s, join_reference=join_reference)
    given = join_reference if torch.is_tensor(join_reference) else None
    keep(case, model, multivectors=mv, scalars=s, reference=given, out_multivectors=out_mv, out_scalars=out_s)
    if gradients:
        (out_mv.square().sum() + out_s.square().sum()).backward()
        keep(case, **{f"gradients.{name}": p.grad for name, p in model.named_parameters()})


torch.manual_seed(7)
linear("linear", IN_SCALARS, OUT_SCALARS)
linear("linear_alone", None, None)
linear("linear_to_scalars", None, OUT_SCALARS)
linear("linear_from_scalars", IN_SCALARS, None)

mv, s = multivectors(6, WIDTH), draw(6, SCALARS)
mv[3:] *= 1e-3  # below the least norm
out_mv, out_s = EquiLayerNorm()(mv, s)
keep("norm", multivectors=mv, scalars=s, out_multivectors=out_mv, out_scalars=out_s)

for law in ("gelu", "relu", "sigmoid"):
    mv, s = multivectors(6, WIDTH) * 2, draw(6, SCALARS) * 2
    out_mv, out_s = ScalarGatedNonlinearity(law)(mv, s)
    keep(f"gate_{law}", multivectors=mv, scalars=s, out_multivectors=out_mv, out_scalars=out_s)

layer = prepared(GeometricBilinear(WIDTH, 2 * WIDTH, in_s_channels=SCALARS, out_s_channels=OUT_SCALARS))
mv, s, reference = multivectors(6, WIDTH), draw(6, SCALARS), draw(6, 16)
out_mv, out_s = layer(mv, scalars=s, reference_mv=reference.unsqueeze(1))
keep("bilinear", layer, multivectors=mv, scalars=s, reference=reference, out_multivectors=out_mv, out_scalars=out_s)

attention("attention", multi_query=True)
attention("attention_heads", multi_query=False)
attention("attention_hierarchical", mask=inside_objects())
attention("attention_rotary", pos_encoding=True)

layer = prepared(GATrBlock(WIDTH, SCALARS, attention=SelfAttentionConfig(num_heads=HEADS), mlp=MLPConfig()))
mv, s = scene_of(WIDTH, SCALARS)
reference = draw(2, 1, 1, 16)
out_mv, out_s = layer(mv, s, reference_mv=reference)
keep("block", layer, multivectors=mv, scalars=s, reference=reference.view(2, 16), out_multivectors=out_mv,
     out_scalars=out_s)

net("net", gradients=True)
net("net_heads", attention=dict(multi_query=False))
net("net_again", reinsert_mv_channels=(2, 0), reinsert_s_channels=(1,))
net("net_again_heads", reinsert_mv_channels=(0,), reinsert_s_channels=(2, 0), attention=dict(multi_query=False))
net("net_rotary", attention=dict(pos_encoding=True))
net("net_canonical", join_reference="canonical")
net("net_axial", axial=True, pos_encodings=(True, True))
net("net_dropout", dropout_prob=0.1)  # whose layers are numbered otherwise
net("net_alone", scalars=None, out_scalars=None, blocks=1)  # the example of their README
net("net_to_scalars", scalars=None, attention=dict(multi_query=False), blocks=1)
net("net_axial_first", axial=True, pos_encodings=(True, False), blocks=2)
net("net_axial_second", axial=True, pos_encodings=(False, True), blocks=2)
net("net_reference", join_reference=draw(2, 1, 1, 16), blocks=1)  # one for each scene
net("net_references", join_reference=draw(2, 5, 1, 16), blocks=1)  # one for each item

save_file(numbers, Path(__file__).resolve().parents[2] / "tests" / "goldens" / "gatr.safetensors")
