#!/usr/bin/env python3
"""Writes tests/goldens/{torchmd_et,torchmd_et_jumps,schnetpack_painn}.safetensors: state dicts with random weights,
two molecules, and the energies and forces that the public code gives in float64.

    pip install torch torchmd-net==3.1.0 schnetpack==2.0.4 safetensors && python tools/goldens/atom_models.py

Biases and the numbers that start at zero are random here, so that a map that reads the wrong one is seen.
"""
from pathlib import Path

import torch
from safetensors.torch import save_file

folder = Path(__file__).resolve().parents[2] / "tests" / "goldens"
TYPES, WIDTH, LAYERS, KERNELS, HEADS, CUTOFF = 10, 12, 2, 6, 3, 5.0


def molecules():
    """Nine atoms of several types, a lone pair just inside the cut-off, one atom that hears nobody."""
    torch.manual_seed(3)
    z = torch.tensor([1, 6, 8, 1, 7, 6, 1, 1, 8])
    positions = torch.randn(9, 3, dtype=torch.float64) * 1.3
    positions[7] = positions[6] + torch.tensor([4.9, 0.0, 0.0], dtype=torch.float64)
    positions[8] = positions[6] + torch.tensor([0.0, 40.0, 0.0], dtype=torch.float64)
    offsets = torch.tensor([0, 5, 9])
    return z, positions, offsets


def randomise(model):
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * (0.5 if parameter.dim() < 2 else parameter.shape[-1] ** -0.5))


def save(name, model, extra, z, positions, offsets, energy, forces):
    weights = {"weights." + key: value.detach().clone().contiguous()
               for key, value in list(model.state_dict().items()) + list(extra.items()) if value.is_floating_point()}
    save_file({**weights, "types": z, "positions": positions.detach(), "offsets": offsets,
               "energy": energy.detach(), "forces": forces.detach()}, folder / (name + ".safetensors"))


def torchmd(name, vector_cutoff):
    from torchmdnet.models.model import create_model
    z, positions, offsets = molecules()
    model = create_model(dict(
        model="equivariant-transformer", embedding_dimension=WIDTH, num_layers=LAYERS, num_rbf=KERNELS,
        rbf_type="expnorm", trainable_rbf=False, activation="silu", attn_activation="silu", neighbor_embedding=True,
        num_heads=HEADS, distance_influence="both", cutoff_lower=0.0, cutoff_upper=CUTOFF, max_z=TYPES,
        max_num_neighbors=32, vector_cutoff=vector_cutoff, output_model="Scalar", reduce_op="add", prior_model=None,
        aggr="add", precision=64, derivative=True, atom_filter=-1, equivariance_invariance_group="O(3)",
        box_vecs=None, check_errors=True, static_shapes=False)).double()
    randomise(model)
    model.mean = torch.tensor(-2.5, dtype=torch.float64)
    model.std = torch.tensor(1.75, dtype=torch.float64)
    batch = torch.tensor([0] * 5 + [1] * 4)
    energy, forces = model(z, positions, batch)
    save(name, model, {}, z, positions, offsets, energy, forces)


def schnetpack():
    import typing

    import torch.utils.data.dataloader as dataloader
    dataloader.T_co = typing.TypeVar("T_co")  # which newer versions of torch no longer have there
    import schnetpack.nn as snn
    from schnetpack.atomistic import Atomwise
    from schnetpack.representation import PaiNN
    z, positions, offsets = molecules()
    positions.requires_grad_(True)
    representation = PaiNN(WIDTH, LAYERS, snn.BesselRBF(KERNELS, CUTOFF), snn.CosineCutoff(CUTOFF),
                           max_z=TYPES).double()
    readout = Atomwise(WIDTH, output_key="energy").double()
    randomise(representation)
    randomise(readout)
    graph = torch.tensor([0] * 5 + [1] * 4)
    i, j = torch.where((graph[:, None] == graph[None]) & ~torch.eye(9, dtype=torch.bool)
                       & (torch.cdist(positions.detach(), positions.detach()) < CUTOFF))
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # its vectors start in the default dtype
    inputs = {"_atomic_numbers": z, "_Rij": positions[j] - positions[i], "_idx_i": i, "_idx_j": j, "_idx_m": graph,
              "_n_atoms": torch.tensor([5, 4])}
    energy = readout(representation(inputs))["energy"]
    torch.set_default_dtype(default)
    forces = -torch.autograd.grad(energy.sum(), positions)[0]
    extra = {"representation." + key: value for key, value in representation.state_dict().items()}
    extra |= {"output_modules.0." + key: value for key, value in readout.state_dict().items()}
    save("schnetpack_painn", torch.nn.Module(), extra, z, positions, offsets, energy, forces)


torchmd("torchmd_et", True)
torchmd("torchmd_et_jumps", False)
schnetpack()
