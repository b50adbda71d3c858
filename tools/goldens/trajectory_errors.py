#!/usr/bin/env python3
"""Writes tests/goldens/trajectory_errors.txt and the trajectories it is of: errors of trajectories as the package evo has them.

    pip install evo
    python3 tools/goldens/trajectory_errors.py

Two pairs of TUM files in tests/fixtures/poses. `loop`: a loop in space, 60 poses, against an estimate of 50 that drifts, in
another frame and at another scale, with stamps that are off by up to 4 ms, one of them by 30 ms. `floor`: a winding way on a
plane, both with the same stamps, by which the estimate has more poses. A line each: the name, the number of pairs, then
translation (m) and angle (degrees) of ape, ape_se3, ape_sim3 and rpe, root mean squares, and the scale.
"""
from copy import deepcopy
from pathlib import Path

import numpy as np
from evo.core import metrics, sync
from evo.core.metrics import PoseRelation, Unit
from evo.core.trajectory import PoseTrajectory3D
from scipy.spatial.transform import Rotation

root = Path(__file__).resolve().parents[2]
fixtures = root / "tests/fixtures/poses"
random = np.random.default_rng(41)


def write(name, times, places, rotations):
    rows = np.concatenate([places, rotations.as_quat()], axis=1)
    text = "".join(f"{t:.4f} " + " ".join(f"{x:.9f}" for x in row) + "\n" for t, row in zip(times, rows))
    (fixtures / name).write_text("# timestamp tx ty tz qx qy qz qw\n" + text)


def read(name):
    rows = np.loadtxt(fixtures / name)
    return PoseTrajectory3D(rows[:, 1:4], rows[:, [7, 4, 5, 6]], rows[:, 0])  # evo's quaternions begin with w


def rms(metric, pair):
    metric.process_data(pair)
    return metric.get_statistic(metrics.StatisticsType.rmse)


def errors(truth, estimate):
    pair = (truth, estimate)
    found = []
    for relation in (PoseRelation.translation_part, PoseRelation.rotation_angle_deg):
        found.append(rms(metrics.APE(relation), pair))
    return found


def line(name):
    truth, estimate = read(f"{name}.truth.tum"), read(f"{name}.estimate.tum")
    truth, estimate = sync.associate_trajectories(truth, estimate, max_diff=0.01)
    numbers = errors(truth, estimate)
    scale = 1
    for with_scale in (False, True):
        aligned = deepcopy(estimate)
        _, _, scale = aligned.align(truth, correct_scale=with_scale)
        numbers += errors(truth, aligned)
    for relation in (PoseRelation.translation_part, PoseRelation.rotation_angle_deg):
        numbers.append(rms(metrics.RPE(relation, delta=1, delta_unit=Unit.frames, all_pairs=False), (truth, estimate)))
    return " ".join([name, str(truth.num_poses), *(repr(float(x)) for x in [*numbers, scale])])


t = np.arange(60) * 0.1 + 1305031102.1753
angle = np.arange(60) * 2 * np.pi / 60
places = np.stack([3 * np.cos(angle), 2 * np.sin(angle), 0.5 * np.sin(2 * angle)], axis=1)
turns = Rotation.from_euler("zyx", np.stack([angle, 0.3 * np.sin(angle), 0.2 * np.cos(angle)], axis=1))
write("loop.truth.tum", t, places, turns)
seen = np.sort(random.choice(60, 50, replace=False))
stamps = t[seen] + random.uniform(-0.004, 0.004, 50)
stamps[7] += 0.03
frame = Rotation.from_rotvec([0.4, -0.7, 1.9])
drift = np.cumsum(random.normal(scale=0.02, size=(50, 3)), axis=0)
moved = 0.7 * frame.apply(places[seen] + drift) + [5.0, -2.0, 1.0]
write("loop.estimate.tum", stamps, moved, frame * turns[seen] * Rotation.from_rotvec(random.normal(scale=0.03, size=(50, 3))))

t = np.arange(40) * 0.25
angle = 0.8 * np.sin(np.arange(40) / 6)
places = np.stack([np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle)), np.zeros(40)], axis=1)
turns = Rotation.from_euler("z", angle[:, None])
write("floor.estimate.tum", t, places + random.normal(scale=0.05, size=(40, 3)) * [1, 1, 0], turns)
write("floor.truth.tum", t[::2], places[::2], turns[::2])

(root / "tests/goldens/trajectory_errors.txt").write_text("\n".join([line("loop"), line("floor")]) + "\n")
