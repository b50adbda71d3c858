#!/usr/bin/env python3
"""Writes tests/fixtures/pytorch/torchmd_et.ckpt: the weights of tests/goldens/torchmd_et.safetensors (atom_models.py)
as TorchMD-Net's training leaves them, a Lightning checkpoint of its module LNNP: `python tools/goldens/torchmd_checkpoint.py`
(torch 2.13 alone). What LNNP and Lightning put beside the weights is here with values of its own kinds:
counters, loops, callbacks with tensors, the optimiser's moments, hyperparameters.
"""
import json
import struct
from collections import OrderedDict
from pathlib import Path

import torch

tests = Path(__file__).resolve().parents[2] / "tests"


def tensors_of(path):
    """The float64 tensors of a safetensors file."""
    data = path.read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "F64":
            yield name, torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float64).view(entry["shape"])


# LNNP holds the network as `model`; its mean and std are buffers of the network.
state_dict = OrderedDict(("model." + name.removeprefix("weights."), tensor)
                         for name, tensor in tensors_of(tests / "goldens" / "torchmd_et.safetensors")
                         if name.startswith("weights."))
assert "model.mean" in state_dict and "model.std" in state_dict

moment = torch.full((12,), 0.5)
# Of tables of elements Adam moves the rows that training met: H, C, N and O.
rows = torch.zeros(10, 12, dtype=torch.float64)
rows[[1, 6, 7, 8]] = 0.25
progress = {"total": {"ready": 8, "completed": 8}, "current": {"ready": 4, "completed": 4}, "is_last_batch": True}
torch.save({
    "epoch": 1,
    "global_step": 8,
    "pytorch-lightning_version": "2.5.0",
    "state_dict": state_dict,
    "loops": {"fit_loop": {"state_dict": {}, "epoch_loop.state_dict": {"_batches_that_stepped": 8},
                           "epoch_loop.batch_progress": progress}},
    "callbacks": {"EarlyStopping{'monitor': 'val_total_mse_loss', 'mode': 'min'}":
                      {"wait_count": 0, "stopped_epoch": 0, "best_score": torch.tensor(0.25), "patience": 30},
                  "ModelCheckpoint{'monitor': 'val_total_mse_loss', 'mode': 'min'}":
                      {"monitor": "val_total_mse_loss", "best_model_score": torch.tensor(0.25),
                       "best_k_models": {"epoch=1.ckpt": torch.tensor(0.25)}, "kth_value": torch.tensor(0.25)}},
    "optimizer_states": [{"state": {0: {"step": torch.tensor(8.0), "exp_avg": rows, "exp_avg_sq": rows},
                                    1: {"step": torch.tensor(8.0), "exp_avg": moment, "exp_avg_sq": moment}},
                          "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "params": [0, 1]}]}],
    "lr_schedulers": [{"factor": 0.8, "patience": 15, "best": 0.25, "_last_lr": [1e-3]}],
    "hparams_name": "hparams",
    "hyper_parameters": {"model": "equivariant-transformer", "embedding_dimension": 12, "num_layers": 2, "num_rbf": 6,
                         "rbf_type": "expnorm", "trainable_rbf": False, "activation": "silu", "attn_activation": "silu",
                         "num_heads": 3, "distance_influence": "both", "neighbor_embedding": True, "vector_cutoff": True,
                         "cutoff_lower": 0.0, "cutoff_upper": 5.0, "max_z": 10, "max_num_neighbors": 32, "precision": 64,
                         "derivative": True, "prior_model": None, "standardize": True, "output_model": "Scalar",
                         "reduce_op": "add", "load_model": None, "splits": None},
}, tests / "fixtures" / "pytorch" / "torchmd_et.ckpt")
