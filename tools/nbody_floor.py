#!/usr/bin/env python3
"""What separate towers cannot learn of charged N-body, whatever their weights (GeoMFormer, section 5.4 read literally).

    tools/nbody_floor.py [DATA] [--systems 200] [--turns 64] [--seed 0]

DATA (data/nbody by default) is a folder that `weyl data make nbody` wrote; its test set is read. Needs NumPy.

Two towers that meet in their sum alone give displacements P + V: P depends on charges and positions x, V on charges,
distances and velocities v. If the velocities alone are turned by R, P stays and V becomes R V, since nothing in the second
tower has a direction but v. So for one system (x, v) all that such a model can give at (x, R v), for every R at once, is
P + R Q with two arrays P and Q (n, 3). This script turns the velocities of each system by independent random rotations R_m
at frame 30, simulates until frame 40 with the step of the data, and takes the least mean square over m of

    displacement_m - P - R_m Q

with P and Q free for every system. No model of separate towers has a smaller mean square error on systems whose velocities
have an independent random turn, and no training makes it smaller. Two figures enclose it: the residual of the fit itself,
which is too small by what six free numbers a particle fit by chance, and the residual on turns that were not fitted (P and Q of half
the turns, tested on the other half), which is too large.

It is no bound on the data themselves. There a velocity is not turned independently of the positions: particles have flown
apart or together for 31 time units, so distances and speeds tell in part how a velocity stands to the positions.
"""

import argparse
import json
import pathlib
import sys

import numpy as np

INPUT, TARGET = 30, 40  # frames of the task, with 3.1 and 4.1 time units behind them
LARGEST = 0.1  # of a component of a force times a time step


def read(path):
    """Tensors and metadata of a safetensors file."""
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    metadata = header.pop("__metadata__", {})
    if metadata.get("format") != "weyl.nbody":
        sys.exit(f"{path}: must be a file of weyl data make nbody, its format is {metadata.get('format')!r}")
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        tensors[name] = np.frombuffer(raw[end + first:end + last], {"F64": "<f8", "F32": "<f4"}[entry["dtype"]])
        tensors[name] = tensors[name].reshape(entry["shape"]).astype(float)
    return tensors, metadata


def advance(x, v, charges, steps, dt):
    """Positions (B, n, 3) after `steps` steps, each a kick and then a drift, as the maker of the data takes them."""
    B, n, _ = x.shape
    first, second = np.triu_indices(n, 1)
    pairs = np.zeros((len(first), n))
    pairs[np.arange(len(first)), first], pairs[np.arange(len(first)), second] = 1, -1
    strength = (charges[:, first] * charges[:, second]).T[..., None]  # (pairs, B, 1)
    x, v = (a.transpose(1, 0, 2).reshape(n, 3 * B).copy() for a in (x, v))
    for _ in range(steps):
        apart = (pairs @ x).reshape(len(first), B, 3)
        square = (apart * apart).sum(-1, keepdims=True)
        force = pairs.T @ (strength * apart / (square * np.sqrt(square))).reshape(len(first), 3 * B)
        v += dt * np.clip(force, -LARGEST / dt, LARGEST / dt)
        x += dt * v
    return x.reshape(n, B, 3).transpose(1, 0, 2)


def random_turns(count, rng):
    """Rotations (count, 3, 3), uniform over SO(3): of unit quaternions."""
    w, x, y, z = (q := rng.normal(size=(4, count))) / np.linalg.norm(q, axis=0)
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                     2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1).reshape(-1, 3, 3)


def residuals(moved, turns):
    """Mean squares of what P + R Q leaves of displacements `moved` (S, M, n, 3) by `turns` (S, M, 3, 3), of each system (S):
    of the turns that were fitted, and of others than those."""
    S, M, n, _ = moved.shape
    design = np.concatenate([np.broadcast_to(np.eye(3), turns.shape), turns], -1)  # of P and Q, (S, M, 3, 6)

    def left(fitted, tested):
        columns = design[:, fitted].reshape(S, -1, 6)
        values = moved[:, fitted].transpose(0, 1, 3, 2).reshape(S, -1, n)
        both = np.linalg.pinv(columns) @ values  # (S, 6, n)
        rest = moved[:, tested].transpose(0, 1, 3, 2) - design[:, tested] @ both[:, None]
        return (rest**2).mean((1, 2, 3))

    every, even, odd = slice(None), slice(0, None, 2), slice(1, None, 2)
    return left(every, every), (left(even, odd) + left(odd, even)) / 2


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="data/nbody", type=pathlib.Path)
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--turns", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args(arguments)
    if o.turns < 6 or o.systems < 2:
        parser.error("--turns must be at least 6 and --systems 2")
    tensors, metadata = read(o.data / "test.safetensors")
    if tensors["positions"].shape[1] <= TARGET:
        sys.exit(f"{o.data}: simulations must have {TARGET + 1} frames at least, have {tensors['positions'].shape[1]}")
    dt, steps = float(metadata["time_step"]), int(metadata["every"]) * (TARGET - INPUT)
    x, v = (tensors[name][: o.systems, INPUT] for name in ("positions", "velocities"))
    target, charges = tensors["positions"][: o.systems, TARGET], tensors["charges"][: o.systems]
    S, n = x.shape[:2]

    replay = np.abs(advance(x, v, charges, steps, dt) - target).max((1, 2))
    if not np.median(replay) < 1e-6:
        sys.exit(f"{o.data}: the replay of frame {TARGET} must be that of the data, half of them are {np.median(replay):.1e} off")

    turns = random_turns(S * o.turns, np.random.default_rng(o.seed)).reshape(S, o.turns, 3, 3)
    turned = np.einsum("smij,snj->smni", turns, v)
    again = [np.repeat(a[:, None], o.turns, 1).reshape(S * o.turns, n, -1) for a in (x, charges[..., None])]
    ends = advance(again[0], turned.reshape(-1, n, 3), again[1][..., 0], steps, dt).reshape(S, o.turns, n, 3)
    moved = ends - x[:, None]
    fitted, other = residuals(moved, turns)

    print(f"{S} systems of {o.data}, velocities of each turned {o.turns} times; mean squares of a coordinate's error, mean of the "
          "systems (standard error)\n")
    straight = ((moved - steps * dt * turned) ** 2).mean((1, 2, 3))
    for name, errors in [("no motion", (moved**2).mean((1, 2, 3))), ("straight line x + v t", straight),
                         ("best P + R Q, on turns that were fitted", fitted), ("best P + R Q, on other turns", other)]:
        print(f"{name:42}{errors.mean():>9.5f} ({errors.std(ddof=1) / S**0.5:.5f}){'median':>9}{np.median(errors):>9.5f}")
    print("\nThe least error that separate towers can have where velocities are turned independently of positions lies between the "
          "last two.\nOn the data themselves, where they are not, this is no bound.")


if __name__ == "__main__":
    main(sys.argv[1:])
