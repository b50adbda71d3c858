#!/usr/bin/env python3
"""Times the public Geometric Algebra Transformer beside `weyl bench configs/bench/gatr.toml`, pair by pair.

    pip install torch==2.13.0 einops opt_einsum numpy
    git clone https://github.com/Qualcomm-AI-research/geometric-algebra-transformer   # v1.4.3
    PYTHONPATH=geometric-algebra-transformer tools/public_gatr_speed.py [--threads 1] [--graphs 4] [--nodes 256] [--pairs 9] [--repeats 3]

Both are nets of 217,682 parameters in float32. A step is forward, the mean square of the outputs, backward and one step of AdamW
with rate zero. Each pair times the public code as it is (eager), the public code under torch.compile, and the program, one after
the other, each by the median of some repeats; printed are medians of pairs, and their ratios with the least and the largest.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time
import types
from pathlib import Path

import torch

# xformers, which dense batches do not need: the class is asked for, the function never called.
operators = types.ModuleType("xformers.ops")
operators.AttentionBias = type("AttentionBias", (), {})
operators.memory_efficient_attention = None
sys.modules["xformers"] = types.ModuleType("xformers")
sys.modules["xformers.ops"] = operators

from gatr.layers.attention.config import SelfAttentionConfig  # noqa: E402
from gatr.layers.mlp.config import MLPConfig  # noqa: E402
from gatr.nets.gatr import GATr  # noqa: E402
from gatr.utils.einsum import enable_cached_einsum  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class Public:
    def __init__(self, compiled, graphs, nodes):
        torch.manual_seed(7)
        attention = SelfAttentionConfig(num_heads=8, multi_query=True, increase_hidden_channels=2)
        self.net = GATr(1, 1, 16, 1, 1, 32, attention, MLPConfig(), num_blocks=4)
        self.call = torch.compile(self.net) if compiled else self.net
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=0.0)
        self.multivectors, self.scalars = torch.randn(graphs, nodes, 1, 16), torch.randn(graphs, nodes, 1)

    def forward(self):
        with torch.no_grad():
            self.call(self.multivectors, scalars=self.scalars)

    def step(self):
        self.optimiser.zero_grad()
        multivectors, scalars = self.call(self.multivectors, scalars=self.scalars)
        (multivectors.square().mean() + scalars.square().mean()).backward()
        self.optimiser.step()


def program(options):
    line = [options.weyl, "bench", ROOT / "configs/bench/gatr.toml", "--threads", options.threads, "--repeats", options.repeats, "--json",
            "bench.expressions=false", f"bench.graphs={options.graphs}", f"bench.nodes={options.nodes}"]
    case = json.loads(subprocess.run([str(part) for part in line], check=True, capture_output=True).stdout)["cases"][0]
    return case["forward_ms"] / 1e3, case["train_step_ms"] / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("threads", 1), ("graphs", 4), ("nodes", 256), ("pairs", 9), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--weyl", default=str(ROOT / "build/release/bin/weyl"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    enable_cached_einsum(False)  # its caches stop torch.compile

    sides = {"eager": Public(False, options.graphs, options.nodes), "compiled": Public(True, options.graphs, options.nodes)}
    assert sum(p.numel() for p in sides["eager"].net.parameters()) == 217682
    times = {(side, what): [] for side in ("eager", "compiled", "weyl") for what in ("forward", "step")}
    for pair in range(options.pairs + 1):
        row = {}
        for name, side in sides.items():
            row[name, "forward"] = statistics.median(seconds(side.forward) for _ in range(options.repeats))
            row[name, "step"] = statistics.median(seconds(side.step) for _ in range(options.repeats))
        row["weyl", "forward"], row["weyl", "step"] = program(options)
        if pair:  # the first compiles
            for key, value in row.items():
                times[key].append(value)
    print(f"torch {torch.__version__}, {options.graphs} x {options.nodes} tokens, {options.threads} thread(s), {options.pairs} pairs")
    for what in ("forward", "step"):
        ours = times["weyl", what]
        print(f"{what}: weyl {1e3 * statistics.median(ours):.0f} ms", end="")
        for side in sides:
            ratios = [theirs / our for theirs, our in zip(times[side, what], ours)]
            print(f"; {side} {1e3 * statistics.median(times[side, what]):.0f} ms, {statistics.median(ratios):.2f} times"
                  f" ({min(ratios):.2f} to {max(ratios):.2f})", end="")
        print()


if __name__ == "__main__":
    main()
