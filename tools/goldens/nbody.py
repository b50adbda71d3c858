#!/usr/bin/env python3
"""Golden numbers of the charged N-body generator, by an independent replay in numpy (legacy RandomState).

Writes tests/data/nbody_golden.txt: one line per simulation of the seed-43 stream,
  number  charges(5)  start x(15, particle by particle)  start v(15)  then x(15) and v(15) of frames 0, 30 and 40.
Usage: python3 tools/goldens/nbody.py [--statistics N] > tests/data/nbody_golden.txt
"""
import argparse
import sys

import numpy as np

N, STEPS, EVERY, DT, SPEED, BOX = 5, 5000, 100, 0.001, 0.5, 5.0
FRAMES = STEPS // EVERY - 1


def draw(random):
    charges = random.choice(np.array([-1.0, 0.0, 1.0]), size=(N, 1), p=[0.5, 0, 0.5])
    x = random.randn(3, N) * (N / 5.0) ** (1 / 3)
    v = random.randn(3, N)
    v = v * SPEED / np.sqrt((v**2).sum(axis=0)).reshape(1, -1)
    over, under = x > BOX, x < -BOX
    x[over] = 2 * BOX - x[over]
    v[over] = -np.abs(v[over])
    x[under] = -2 * BOX - x[under]
    v[under] = np.abs(v[under])
    random.randn(FRAMES, 3, N)  # the noise, drawn and multiplied by zero
    random.randn(FRAMES, 3, N)
    return charges, x, v


def acceleration(x, edges):
    squares = (x.T**2).sum(axis=1)
    distance2 = squares.reshape(-1, 1) + squares.reshape(1, -1) - 2 * x.T.dot(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = edges / np.power(distance2, 1.5)
    np.fill_diagonal(size, 0)
    a = np.stack([(size * np.subtract.outer(x[d], x[d])).sum(axis=-1) for d in range(3)])
    return np.clip(a, -0.1 / DT, 0.1 / DT)


def simulate(charges, x, v):
    edges = charges.dot(charges.T)
    x, v = x.copy(), v.copy()
    xs, vs = [], []
    v += DT * acceleration(x, edges)
    for step in range(1, STEPS):
        x += DT * v
        if step % EVERY == 0:
            xs.append(x.copy())
            vs.append(v.copy())
        v += DT * acceleration(x, edges)
    return np.array(xs), np.array(vs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--statistics", type=int, default=0)
    options = parser.parse_args()
    random = np.random.RandomState(43)
    if options.statistics:
        runs = [simulate(*draw(random)) for _ in range(options.statistics)]
        d = np.array([x[40] - x[30] for x, _ in runs])
        v = np.array([v[30] for _, v in runs])
        best = (d * v).sum() / (v * v).sum()
        print("no motion", (d**2).mean(), "x + v", ((d - v) ** 2).mean(), "best", best, ((d - best * v) ** 2).mean())
        return
    wanted = [0, 1, 2, 3, 7, 10000, 10001, 11999, 12000, 13999]
    for number in range(14000):
        start = draw(random)
        if number in wanted:
            xs, vs = simulate(*start)
            row = [start[0].ravel(), start[1].T.ravel(), start[2].T.ravel()]
            for frame in (0, 30, 40):
                row += [xs[frame].T.ravel(), vs[frame].T.ravel()]
            print(number, *(repr(float(value)) for value in np.concatenate(row)))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
