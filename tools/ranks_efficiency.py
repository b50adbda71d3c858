#!/usr/bin/env python3
"""How well trainings would scale over processes, on paper: parameters and FLOPs are those of `weyl info`, all else is assumed and
printed above the table.

    tools/ranks_efficiency.py [WEYL]      default build/release/bin/weyl

A step of P ranks takes t / balance + max(0, s - share t), with t the time of a rank's mean part of the batch, s that of the sum of all
gradients, and a share of t in which it is hidden. Efficiency is t over that.
"""

import heapq
import json
import math
import pathlib
import random
import subprocess
import sys

# Where processes run: FLOPs a second of each, bytes a second between two, seconds of a message, and how many there may be.
PLACES = [("cores of one host", 0.1e12, 0.7e9, 50e-6, 8), ("nodes, 100 Gb/s", 2e12, 10e9, 20e-6, 64), ("nodes, 10 Gb/s", 2e12, 1e9, 50e-6, 64)]
HIDDEN = 0.5  # share of a step, its backward pass, behind which sums run
RANKS = [2, 8, 64]
# Config, samples a rank, mean tokens of a sample, and the spread of their logarithm: molecules of many sizes, or of one.
RECIPES = [
    ("configs/qm9/et.paper.toml", 16, 18, 0.17),
    ("configs/omol/platonic.paper.toml", 16, 50, 0.7),
    ("configs/oc20/is2re.paper.toml", 8, 80, 0.4),
]
TRIALS = 40


def balance(ranks, samples, spread, draw):
    """Mean load over the largest: the largest sample first, each to the rank that has least (parallel/shares.h)."""
    shares = []
    for _ in range(TRIALS):
        sizes = sorted((min(max(math.exp(draw.gauss(0, spread)), 0.05), 7) for _ in range(ranks * samples)), reverse=True)
        loads = [0.0] * ranks
        for size in sizes:
            heapq.heapreplace(loads, loads[0] + size)
        shares.append(sum(loads) / ranks / max(loads))
    return sum(shares) / TRIALS


def seconds_of_sum(size, ranks, bandwidth, latency):
    """A ring: each rank sends 2 (P - 1) / P of the bytes in 2 (P - 1) messages."""
    return 2 * (ranks - 1) * (size / ranks / bandwidth + latency)


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    weyl = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/release/bin/weyl").resolve()
    draw = random.Random(1)
    print(f"Assumed: float32 gradients; a ring; sums hidden behind {HIDDEN:g} of a step; tokens of samples lognormal;\n")
    for name, rate, bandwidth, latency, _ in PLACES:
        print(f"* {name}: {rate / 1e12:g} TFLOP/s a process, {bandwidth / 1e9:g} GB/s, {latency * 1e6:g} us a message")
    print("\n| recipe, samples a rank, mean tokens | parameters | on | step | sum over 8 | " + " | ".join(f"{n} ranks" for n in RANKS) + " |")
    print("|---|---|---|---|---|" + "---|" * len(RANKS))
    for config, samples, tokens, spread in RECIPES:
        info = json.loads(subprocess.run([weyl, "info", root / config, "--json"], check=True, capture_output=True, text=True).stdout)
        size = 4 * info["parameters_real"]
        even = {ranks: balance(ranks, samples, spread, draw) for ranks in RANKS}
        for name, rate, bandwidth, latency, most in PLACES:
            t = info["flops_per_token"]["train"] * samples * tokens / rate
            sums = {ranks: seconds_of_sum(size, ranks, bandwidth, latency) for ranks in RANKS}
            cells = []
            for ranks in RANKS:
                step = t / even[ranks] + max(0, sums[ranks] - HIDDEN * t)
                cells.append("" if ranks > most else f"{t / step:.2f}")
            print(f"| {pathlib.Path(config).relative_to('configs')}, {samples}, {tokens} | {info['parameters_real'] / 1e6:.1f} M | {name} | {1e3 * t:.0f} ms | "
                  f"{1e3 * seconds_of_sum(size, 8, bandwidth, latency):.0f} ms | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
