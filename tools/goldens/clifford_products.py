#!/usr/bin/env python3
"""Products of multivectors of G(3,0,1) by the package clifford: tests/goldens/clifford_products.txt.

    tools/goldens/clifford_products.py OUTPUT      needs clifford, mpmath and numpy

A block begins with "operation inputs outputs"; its rows are that many numbers each, 16 a multivector, in the order
1 e0 e1 e2 e3 e01 e02 e03 e12 e13 e23 e012 e013 e023 e123 e0123. Inputs are multiples of 1/8, so products are exact.
  geometric, outer    x, y -> x y, x ^ y
  join                x, y -> C(C(x) ^ C(y)), C the right complement
  reverse, involution, dual    x -> x~, x^, C(x)
  inner               x, y -> the scalar of x~ y
  sandwich            u, x -> u x u^-1 (even u) or u x^ u^-1 (odd u), u a product of 0 .. 4 vectors
  exp                 B -> exp(B) of a bivector: in 50 digits, of the matrix of x -> B x
"""

import sys

import clifford
import mpmath
import numpy as np

ORDER = ["", "e0", "e1", "e2", "e3", "e01", "e02", "e03", "e12", "e13", "e23", "e012", "e013", "e023", "e123", "e0123"]
SAMPLES = 10
random = np.random.default_rng(20261123)
layout, blades = clifford.Cl(3, 0, 1, firstIdx=0)
BASIS = [blades[name] if name else layout.scalar for name in ORDER]


def multivector(numbers):
    return sum((float(x) * blade for x, blade in zip(numbers, BASIS)), 0 * layout.scalar)


def numbers(x):
    return [float(x.value[int(np.flatnonzero(blade.value)[0])]) for blade in BASIS]


def draw(components=range(16)):
    x = np.zeros(16)
    x[list(components)] = random.integers(-16, 17, len(components)) / 8
    return [float(v) for v in x]


def versor(count):
    u = layout.scalar
    for _ in range(count):
        u = multivector(draw(range(1, 5))) * u
    return u


def sandwich(u, x, odd):
    inverse = ~u / float((u * ~u).value[0])
    return u * (x.gradeInvol() if odd else x) * inverse


def exponential(bivector):
    columns = [numbers(bivector * blade) for blade in BASIS]
    with mpmath.workdps(50):
        power = mpmath.expm(mpmath.matrix(columns).T)
    return [float(power[i, 0]) for i in range(16)]


def rows(operation):
    for sample in range(SAMPLES):
        x, y = draw(), draw()
        X, Y = multivector(x), multivector(y)
        if operation == "geometric":
            yield x + y, numbers(X * Y)
        elif operation == "outer":
            yield x + y, numbers(X ^ Y)
        elif operation == "join":
            yield x + y, numbers((X.right_complement() ^ Y.right_complement()).right_complement())
        elif operation == "reverse":
            yield x, numbers(~X)
        elif operation == "involution":
            yield x, numbers(X.gradeInvol())
        elif operation == "dual":
            yield x, numbers(X.right_complement())
        elif operation == "inner":
            yield x + y, numbers(~X * Y)[:1]
        elif operation == "sandwich":
            count = sample % 5
            u = versor(count)
            yield numbers(u) + y, numbers(sandwich(u, Y, count % 2 == 1))
        elif operation == "exp":
            b = draw(range(5, 11))
            yield b, exponential(multivector(b))


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(arguments[0], "w", encoding="ascii") as out:
        print(f"# made by tools/goldens/clifford_products.py, clifford {clifford.__version__}", file=out)
        for operation in ("geometric", "outer", "join", "reverse", "involution", "dual", "inner", "sandwich", "exp"):
            table = list(rows(operation))
            print(operation, len(table[0][0]), len(table[0][1]), file=out)
            for given, wanted in table:
                print(*(f"{v + 0.0:.17g}" for v in given + wanted), file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
