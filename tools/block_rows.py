#!/usr/bin/env python3
"""The table of scripts/block_table: one row a group, kind of data and model.

    tools/block_rows.py FOLDER [--groups ...] [--data ...] [--models ...] [--seeds ...]

FOLDER holds GROUP-DATA-MODEL-SEED.train (what `weyl train --json` printed) and the run folders beside. Prints Markdown.

Ratios to G are geometric means over the seeds that both models have, with the 95 % interval of Student's t on the
logarithms; one seed has no interval. A row says nothing where the median flanking accuracy of G is below .98: then pose
errors are those of gaps that were not found.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import struct
import sys

NAMES = {"se2": "SE(2)", "se3": "SE(3)", "aff2": "Aff(2)"}
KINDS = ["blocks", "ragged", "noise", "constant"]
MODELS = ["G", "isotropic", "full", "C"]
BLOCKS = {
    "se2": ["translation", "rotation"],
    "se3": ["translation", "rotation"],
    "aff2": ["translation", "rotation", "scale", "traceless symmetric"],
}
FLANKING = 0.98
# The 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom (tables; scipy.stats.t.ppf(.975, n)).
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
     2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]  # fmt: skip


def ratio_text(logs):
    """The geometric mean of ratios, given their logarithms, and its interval."""
    mean = statistics.mean(logs)
    if len(logs) == 1:
        return f"{math.exp(mean):.2f}"
    half = T[min(len(logs) - 2, len(T) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.2f} ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})"


def tensor(path, name):
    """The shape and the numbers of a float32 tensor of a safetensors file."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(size))[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: {name} must be F32, got {entry['dtype']}")
        begin, end = entry["data_offsets"]
        file.seek(8 + size + begin)
        return entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", file.read(end - begin))


def block_weights(run):
    """lambda of each layer and head, a list of K numbers each."""
    (_, _, blocks), numbers = tensor(run / "best" / "model.safetensors", "score.weight")
    weights = [math.log1p(math.exp(-abs(x))) + max(x, 0.0) + 1e-3 for x in numbers]  # softplus
    return [weights[k : k + blocks] for k in range(0, len(weights), blocks)]


def weights_text(group, runs):
    """How much each block weighs beside the first: geometric mean over heads, layers and trainings, least and largest."""
    heads = [head for run in runs for head in block_weights(run)]
    cells = []
    for k, name in enumerate(BLOCKS[group][1:], 1):
        logs = [math.log(head[k] / head[0]) for head in heads]
        cells.append(f"{name} {math.exp(statistics.mean(logs)):.2g} ({math.exp(min(logs)):.1g} to {math.exp(max(logs)):.1g})")
    return ", ".join(cells)


def value(train, metric):
    return train["test"]["metrics"][metric]["value"]


HEADER = ["group", "data", "model", "parameters", "trainings", "pose error: median", "flanking: median", "least",
          "pose error / that of G (95 %)", "weight of a block / that of translation"]  # fmt: skip


def rows_of(folder, group, kind, models, seeds):
    """The cells of the rows of one group and kind of data."""
    found = {}
    for model in ["G"] + [m for m in models if m != "G"]:
        stems = {seed: folder / f"{group}-{kind}-{model}-{seed}" for seed in seeds}
        trains = {s: json.loads(pathlib.Path(f"{stem}.train").read_text()) for s, stem in stems.items()
                  if pathlib.Path(f"{stem}.train").is_file()}  # fmt: skip
        if trains:
            found[model] = (trains, [stems[s] for s in trains])
    reference = found["G"][0] if "G" in found else {}
    silent = reference and statistics.median(value(t, "flanking_accuracy") for t in reference.values()) < FLANKING
    for model in models:
        if model not in found:
            continue
        trains, runs = found[model]
        flanking = [value(t, "flanking_accuracy") for t in trains.values()]
        paired = [math.log(value(trains[s], "pose_error") / value(reference[s], "pose_error")) for s in trains if s in reference]
        ratio = "" if model == "G" else "says nothing" if silent else ratio_text(paired) if paired else "no training of G"
        yield [
            NAMES[group],
            kind,
            model,
            f"{next(iter(trains.values()))['parameters']:,}",
            str(len(trains)),
            f"{statistics.median(value(t, 'pose_error') for t in trains.values()):.1e}",
            f"{statistics.median(flanking):.3f}",
            f"{min(flanking):.3f}",
            ratio,
            weights_text(group, runs) if model == "G" else "",
        ]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--groups", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--data", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--seeds", nargs="+", default=[str(s) for s in range(9)])
    given = parser.parse_args(arguments)
    bad = [s for s in given.seeds if not re.fullmatch("[0-9]+", s)]
    if bad:
        parser.error(f"seeds must be whole numbers, got {bad[0]!r}")
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    for group in given.groups:
        for kind in given.data:
            for cells in rows_of(given.folder, group, kind, given.models, given.seeds):
                print("| " + " | ".join(cells) + " |")
    print(f"\nSays nothing: G itself finds fewer than {FLANKING} of the gaps (median).")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
