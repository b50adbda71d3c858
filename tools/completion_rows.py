#!/usr/bin/env python3
"""The tables of scripts/completion_table: one row a model and group, the median and the worst of its trainings.

    tools/completion_rows.py FOLDER [--recipes ...] [--groups ...] [--models ...] [--seeds ...]

FOLDER holds RECIPE-GROUP-MODEL-SEED.train (what `weyl train --json` printed) and .json (`weyl audit --json`). Prints
Markdown. A figure beyond its goal stands in bold with a dagger and its goal. Exit code 1: some figure does.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

NAMES = {"se2": "SE(2)", "so3": "SO(3)", "aff2": "Aff(2)", "so2": "SO(2)", "se3": "SE(3)", "aff3": "Aff(3)"}
# The paper's tables 2 to 4: pose error, flanking accuracy, equivariance error (a mean of squares).
PAPER = {
    ("se2", "G"): ("3e-3", "1.000", "4.0e-10"),
    ("se2", "C"): ("5e-3", "1.000", "1.3e-12"),
    ("se2", "A"): ("6.9e-2", ".999", "1.3e-1"),
    ("so3", "G"): ("1.8e-4", ".998", "1.6e-14"),
    ("so3", "C"): ("1.3e-4", ".998", "2.7e-14"),
    ("so3", "A"): ("6.7e-2", ".965", "7.4e-2"),
    ("aff2", "G"): ("7e-3", "1.000", "2.3e-5"),
    ("aff2", "C"): ("7e-3", "1.000", "1.4e-9"),
    ("aff2", "A"): ("7.9e-1", ".953", "1.29"),
}
OURS = {("se2", "G"): 2e-4}  # pose errors that our recipe must reach beside the paper's
FLANKING = 0.998
ROUNDING = {"so": 1e-13, "se": 4e-10, "af": 1e-9}  # equivariance of G and C, mean squares
SECONDS = 90
TITLES = {
    "paper": "By the paper's protocol (`<group>.paper.toml`: Adam at a constant rate, the last epoch)",
    "ours": "By our recipe (`<group>.toml`: a rate that falls to zero, averaged weights)",
}


class Row:
    """Figures of one row, marked where they are beyond their goal."""

    def __init__(self):
        self.missed = False

    def figure(self, value, form, goal=None, at_least=False):
        shown = form.format(value)
        if goal is None or (value >= goal if at_least else value <= goal):
            return shown
        self.missed = True
        sign = "≥" if at_least else "≤"
        return f"**{shown}** † ({sign} {goal:g})"


def pose_goal(recipe, group, model):
    """The pose error that each training of G and C must reach; None: there is no goal."""
    if model == "A" or (group, model) not in PAPER:
        return None
    goal = float(PAPER[group, model][0])
    return min(goal, OURS.get((group, model), goal)) if recipe == "ours" else goal


def row_of(recipe, group, model, runs, pose_of_g):
    """The cells of a row, whether a goal is missed, and the median pose error."""
    trains = [train for train, _ in runs]
    audits = [audit for _, audit in runs]
    row = Row()

    def metric(name):
        return [t["test"]["metrics"][name]["value"] for t in trains]

    errors, flanking = metric("pose_error"), metric("flanking_accuracy")
    moved = [a["prediction_equivariance"] for a in audits]
    squares = [m["mean_square"] for m in moved]
    passed = sum(bool(a["passed"]) for a in audits)
    control = model == "A"
    goal = pose_goal(recipe, group, model)
    median_goal, at_least = goal, False
    if control and pose_of_g:  # the control must be far behind
        median_goal, at_least = 10 * pose_of_g, True
    rounding = 1e-3 if control else ROUNDING[group[:2]]
    cells = [
        NAMES[group],
        model,
        f"{trains[0]['parameters']:,}",
        str(len(runs)),
        row.figure(statistics.median(errors), "{:.1e}", median_goal, at_least),
        row.figure(max(errors), "{:.1e}", goal),
        row.figure(statistics.median(flanking), "{:.3f}", None if control else FLANKING - 1e-9, True),
        row.figure(min(flanking), "{:.3f}", None if control else FLANKING - 1e-9, True),
        f"{statistics.median(metric('relative_error')):.1e}",
        row.figure(statistics.median(squares), "{:.1e}", rounding, control),
        row.figure(max(squares), "{:.1e}", None if control else rounding),
        f"{sum(m['flips'] for m in moved):,}",
        f"{passed}/{len(audits)}" if control else row.figure(passed, "{}/" + str(len(audits)), len(audits), True),
        row.figure(max(t["seconds"] for t in trains), "{:.0f}", SECONDS),
        ", ".join(PAPER.get((group, model), ())),
    ]
    return cells, row.missed, statistics.median(errors)


HEADER = [
    "group", "model", "parameters", "trainings", "pose error: median", "worst", "flanking: median", "worst",
    "E / \\|log h\\|²: median", "equivariance: median", "worst", "flips", "audits", "seconds",
    "paper: pose error, flanking, equivariance",
]  # fmt: skip


def table(folder, recipe, groups, models, seeds):
    """The lines of one recipe's table (none when nothing was trained), and whether a goal is missed."""
    lines, missed = [], False
    pose_of_g = {}
    for group in groups:
        for model in sorted(models, key="GCA".index):
            runs = []
            for seed in seeds:
                stem = folder / f"{recipe}-{group}-{model}-{seed}"
                train, audit = stem.with_name(stem.name + ".train"), stem.with_name(stem.name + ".json")
                if train.is_file() and audit.is_file():
                    runs.append((json.loads(train.read_text()), json.loads(audit.read_text())))
            if not runs:
                continue
            cells, beyond, error = row_of(recipe, group, model, runs, pose_of_g.get(group))
            if model == "G":
                pose_of_g[group] = error
            missed = missed or beyond
            lines.append("| " + " | ".join(cells) + " |")
    if lines:
        lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER), *lines]
    return lines, missed


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--recipes", nargs="+", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--groups", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--models", nargs="+", default=list("GCA"), choices=list("GCA"))
    parser.add_argument("--seeds", nargs="+", default=[str(s) for s in range(9)])
    given = parser.parse_args(arguments)
    bad = [s for s in given.seeds if not re.fullmatch("[0-9]+", s)]
    if bad:
        parser.error(f"seeds must be whole numbers, got {bad[0]!r}")
    missed = False
    for recipe in given.recipes:
        lines, beyond = table(given.folder, recipe, given.groups, given.models, given.seeds)
        if lines:
            print(f"{TITLES[recipe]}:\n\n" + "\n".join(lines) + "\n")
        missed = missed or beyond
    print("Pose error: the mean over test instances. Equivariance: of the prediction, a mean of squares, without flips. "
          "Worst: of the trainings of the row. †: beyond its goal.")  # fmt: skip
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
