#!/usr/bin/env python3
"""Writes tests/goldens/platonic.safetensors: whole Platonic Transformers of the public code with random weights, two
graphs of three and two nodes, and what that code gives for them in float64.

    pip install torch safetensors numpy
    git clone https://github.com/niazoys/PlatonicTransformers   # d6e7d82
    PYTHONPATH=PlatonicTransformers python tools/goldens/public_platonic.py

Tensors are named CASE.weights.PARAMETER, CASE.positions, CASE.in_scalars and so on, outputs CASE.scalars (of graphs) and
CASE.vectors (of nodes). Every number is random, frequencies, norms and biases too, so that a model that reads the wrong
one is seen. Their tables of groups are rounded to float32: compare with model.platonic.authors_tables.
"""
from pathlib import Path

import torch
from safetensors.torch import save_file

from platonic_transformers.models.platoformer.groups import PLATONIC_GROUPS
from platonic_transformers.models.platoformer.platoformer import PlatonicTransformer

SCALARS, VECTORS, OUT_SCALARS, OUT_VECTORS = 2, 1, 2, 1
TYPICAL = 2.5  # nodes of a graph
numbers = {}


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def keep(case, group, dimension, heads=1, gradients=False, **other):
    order = PLATONIC_GROUPS[group].G
    options = dict(attention=True, rope_sigma=1.5, freq_init="random", ffn_dim_factor=2, dropout=0.0) | other
    model = PlatonicTransformer(SCALARS, VECTORS, 4 * heads * order, OUT_SCALARS, OUT_VECTORS, heads * order, 2, group,
                                spatial_dim=dimension, **options).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = draw(*parameter.shape)
            if name.endswith("kernel"):
                value *= 1.5 / (parameter.shape[0] * parameter.shape[2]) ** 0.5
            elif not name.endswith("freqs"):
                value = 0.3 * value + (1 if "norm" in name and name.endswith("weight") else 0)
            parameter.copy_(value)
    inputs = dict(positions=draw(5, dimension), in_scalars=draw(5, SCALARS), in_vectors=draw(5, VECTORS, dimension))
    inputs["positions"].requires_grad_(gradients)
    batch = torch.tensor([0, 0, 0, 1, 1])
    scalars, vectors = model(inputs["in_scalars"], inputs["positions"], batch, vec=inputs["in_vectors"],
                             avg_num_nodes=TYPICAL)
    for name, parameter in model.named_parameters():
        numbers[f"{case}.weights.{name}"] = parameter.detach().clone()
    for name, tensor in (inputs | dict(scalars=scalars, vectors=vectors)).items():
        numbers[f"{case}.{name}"] = tensor.detach().clone().contiguous()
    if gradients:
        (scalars.square().sum() + vectors.square().sum()).backward()
        numbers[f"{case}.gradients.positions"] = inputs["positions"].grad.clone()
        for name, parameter in model.named_parameters():
            numbers[f"{case}.gradients.{name}"] = parameter.grad.clone()


torch.manual_seed(11)
# In the plane: turns, mirrors, both; exact tables and rounded ones.
keep("trivial_2", "trivial_2", 2, use_key=True)
keep("flop_2d_2", "flop_2d_2", 2, heads=2)
keep("cyclic_4", "cyclic_4", 2)
keep("cyclic_6", "cyclic_6", 2, use_key=True, rope_on_values=True)
keep("dihedral_2", "dihedral_2", 2, attention=False)
keep("dihedral_3", "dihedral_3", 2, rope_on_values=True)
# The network of images: padded, keys, position encoding of both kinds, one matrix as readout.
keep("images", "cyclic_4", 2, heads=2, use_key=True, ape_sigma=2.0, dense_mode=True, ffn_readout=False)
keep("images_dihedral_3", "dihedral_3", 2, use_key=True, ape_sigma=2.0, dense_mode=True, ffn_readout=False)
keep("plane_ape_linear", "cyclic_6", 2, ape_sigma=1.0, attention=False)
# In space.
keep("ape", "tetrahedron", 3, ape_sigma=1.0, gradients=True)
keep("ape_alone", "octahedron_reflections", 3, ape_sigma=1.0, rope_sigma=None)
keep("keys", "tetrahedron", 3, use_key=True, gradients=True)
keep("keys_ape_values", "octahedron", 3, use_key=True, ape_sigma=0.5, rope_on_values=True)
keep("keys_linear", "tetrahedron", 3, use_key=True, attention=False)

save_file(numbers, Path(__file__).resolve().parents[2] / "tests" / "goldens" / "platonic.safetensors")
