#!/usr/bin/env python3
"""Scores of model C's networks, with ReLU (the paper) and with GELU: tests/goldens/lie_score_networks.txt.

    tools/goldens/lie_score_networks.py OUTPUT      needs mpmath

8 pairs of 6 coordinates, 4 heads of 32 hidden numbers; inputs and weights are sin(0.7 n + seed), n = 1, 2, ..., of 50
digits, row-major, as tests/ops/lie/pair_network_test.cpp makes them. A row is the law and the scores of a pair, head by
head.
"""

import sys

import mpmath as mp

mp.mp.dps = 50
PAIRS, COORDINATES, HEADS, HIDDEN = 8, 6, 4, 32
LAWS = {
    "relu": lambda t: max(t, mp.mpf(0)),
    "gelu": lambda t: t * (1 + mp.erf(t / mp.sqrt(2))) / 2,
}


def wave(rows, columns, seed):
    numbers = [mp.sin((n + 1) * mp.mpf("0.7") + mp.mpf(seed)) for n in range(rows * columns)]
    return [numbers[r * columns : (r + 1) * columns] for r in range(rows)]


def main():
    w = [[3 * x for x in row] for row in wave(PAIRS, COORDINATES, "0.1")]
    first = wave(HEADS * HIDDEN, COORDINATES, "0.5")
    first_bias = wave(1, HEADS * HIDDEN, "0.9")[0]
    second = wave(HEADS, HIDDEN, "1.3")
    second_bias = wave(1, HEADS, "1.7")[0]
    with open(sys.argv[1], "w") as out:
        out.write("# made by tools/goldens/lie_score_networks.py in 50 digits\n")
        for law, act in LAWS.items():
            for pair in w:
                scores = []
                for h in range(HEADS):
                    score = second_bias[h]
                    for m in range(HIDDEN):
                        row = h * HIDDEN + m
                        score += second[h][m] * act(mp.fdot(first[row], pair) + first_bias[row])
                    scores.append(mp.nstr(score, 19))
                out.write(" ".join([law, *scores]) + "\n")


if __name__ == "__main__":
    main()
