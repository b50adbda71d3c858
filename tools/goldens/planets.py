#!/usr/bin/env python3
"""Golden numbers of planets around a star: semi-implicit Euler under Newton's law, with exact fractions' worth of digits.

Python's decimal numbers with 40 digits, so that the numbers are independent of any floating-point unit. Prints the places
and velocities after 100 steps of 0.001 of the start that tests/makers/planets_test.cpp has.
Usage: python3 tools/goldens/planets.py
"""
from decimal import Decimal, getcontext

getcontext().prec = 40
D = Decimal
masses = [D(2), D("0.05"), D("0.1")]
x = [[D(0), D(0), D(0)], [D("0.5"), D(0), D("0.1")], [D("-0.3"), D("0.4"), D(0)]]
v = [[D(0), D(0), D(0)], [D(0), D(2), D(0)], [D("1.5"), D(1), D("-0.25")]]
step = D("0.001")

for _ in range(100):
    pull = [[D(0)] * 3 for _ in masses]
    for i in range(3):
        for j in range(3):
            if i != j:
                way = [x[j][d] - x[i][d] for d in range(3)]
                square = sum(w * w for w in way)
                for d in range(3):
                    pull[i][d] += masses[j] * way[d] / (square * square.sqrt())
    for i in range(3):
        for d in range(3):
            v[i][d] += step * pull[i][d]
            x[i][d] += step * v[i][d]

for name, rows in (("x", x), ("v", v)):
    print(name, ", ".join(f"{number:.17g}" for row in rows for number in row))
