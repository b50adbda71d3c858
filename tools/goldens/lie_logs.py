#!/usr/bin/env python3
"""Inputs and 50-digit logarithms of Lie groups, regime by regime: tests/goldens/lie_logs.txt.

    tools/goldens/lie_logs.py OUTPUT      needs mpmath and numpy

Each golden is the logarithm of the input as it is written, that is, after it was rounded to float64 or float32.
A block begins with "group regime format inputs outputs"; its rows are that many numbers each.
  se3         inputs (t, quaternion xyzw), of any norm; outputs (V^-1 t, omega)
  so3_matrix  inputs R row-major, orthogonal to rounding; outputs omega of the nearest rotation
  aff2, aff3  inputs (A row-major, t); outputs (V^-1 t, log A row-major)
"""

import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 60
SAMPLES = 40
random = np.random.default_rng(20260620)


def log_uniform(low, high):
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def rounded(numbers, bits):
    return [float(np.float32(x)) if bits == 32 else float(x) for x in numbers]


def matrix(rows):
    return mp.matrix([[mp.mpf(x) for x in row] for row in rows])


def rotation_log(q):
    """omega of the quaternion (x, y, z, w) of any norm."""
    x, y, z, w = (mp.mpf(v) for v in q)
    if w < 0:
        x, y, z, w = -x, -y, -z, -w
    n = mp.sqrt(x * x + y * y + z * z)
    f = 2 * mp.atan2(n, w) / n
    return [f * x, f * y, f * z]


def v_inverse(omega, t):
    o = mp.matrix([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
    theta = mp.sqrt(sum(v * v for v in omega))
    h = theta / 2
    b = (1 - h * mp.cot(h)) / theta**2
    t = mp.matrix([mp.mpf(v) for v in t])
    return list(t - o * t / 2 + b * (o * (o * t)))


def nearest_rotation(m):
    """The polar factor, by Newton's iteration."""
    for _ in range(12):
        m = (m + (m**-1).T) / 2
    return m


def rotation_of(m):
    """omega of an exact rotation matrix: by the quaternion, whose largest component is divided by."""
    k = mp.matrix(4, 4)
    r = m
    k[0, 0], k[1, 1] = 1 + r[0, 0] - r[1, 1] - r[2, 2], 1 - r[0, 0] + r[1, 1] - r[2, 2]
    k[2, 2], k[3, 3] = 1 - r[0, 0] - r[1, 1] + r[2, 2], 1 + r[0, 0] + r[1, 1] + r[2, 2]
    k[0, 1] = k[1, 0] = r[0, 1] + r[1, 0]
    k[0, 2] = k[2, 0] = r[0, 2] + r[2, 0]
    k[1, 2] = k[2, 1] = r[1, 2] + r[2, 1]
    k[0, 3] = k[3, 0] = r[2, 1] - r[1, 2]
    k[1, 3] = k[3, 1] = r[0, 2] - r[2, 0]
    k[2, 3] = k[3, 2] = r[1, 0] - r[0, 1]
    i = max(range(4), key=lambda j: k[j, j])
    return rotation_log([k[j, i] for j in range(4)])


def angles(regime):
    if regime == "uniform":
        return random.uniform(0, 0.98 * np.pi)
    if regime == "small":
        return log_uniform(1e-8, 0.1)
    return np.pi - log_uniform(1e-6, 0.1)


def rotations():
    for regime in ("uniform", "small", "half_turn"):
        for bits in (64, 32):
            poses, matrices = [], []
            for _ in range(SAMPLES):
                axis = random.normal(size=3)
                axis /= np.linalg.norm(axis)
                h = mp.mpf(angles(regime)) / 2
                exact = [mp.sin(h) * mp.mpf(a) for a in axis] + [mp.cos(h)]
                g = rounded(list(random.normal(size=3)) + exact, bits)
                omega = rotation_log(g[3:])
                poses.append((g, v_inverse(omega, g[:3]) + omega))
                x, y, z, w = exact
                r = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                     2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                     2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
                r = rounded(r, bits)
                matrices.append((r, rotation_of(nearest_rotation(matrix([r[:3], r[3:6], r[6:]])))))
            yield "se3", regime, bits, poses
            yield "so3_matrix", regime, bits, matrices


def conjugated(x, n, width):
    """P x P^-1, P = exp of a matrix with entries N(0, width^2)."""
    p = mp.expm(matrix(random.normal(0, width, (n, n))))
    return p * x * p**-1


def turn(angle, n):
    x = mp.zeros(n)
    x[0, 1], x[1, 0] = -mp.mpf(angle), mp.mpf(angle)
    return x


def linear_part(regime, n):
    one = mp.eye(n)
    if regime == "random":
        return mp.expm(matrix(random.normal(0, 0.6, (n, n))))
    if regime == "near_identity":
        return one + log_uniform(1e-7, 1e-1) * matrix(random.normal(size=(n, n)))
    if regime == "jordan":
        scale = float(np.exp(random.normal(0, 0.3)))
        a = scale * one
        if n == 2:  # two eigenvalues that almost are one
            a[0, 1] = random.choice([-1, 1]) * log_uniform(1e-14, 1e-2)
            a[1, 0] = random.choice([-1, 1]) * log_uniform(1e-14, 1e-2)
            return a
        for i in range(3):
            for j in range(i + 1, 3):
                a[i, j] = random.normal()
        return a
    if regime == "zero_exponent":
        x = mp.zeros(n)
        x[0, 0], x[1, 1] = random.choice([-1, 1]) * log_uniform(1e-16, 1e-8), random.normal()
        return mp.expm(conjugated(x, n, 0.4))
    if regime == "near_cut":
        x = turn(np.pi - log_uniform(1e-5 if n == 2 else 1e-3, 0.3), n) + random.normal(0, 0.3) * one
        if n == 3:
            x[2, 2] = random.normal(0, 0.5)
        return mp.expm(conjugated(x, n, 0.3))
    if regime == "half_turn_scaled":
        return mp.expm(turn(np.pi - log_uniform(1e-6, 0.1), n) + random.normal(0, 0.5) * one)
    exponents = {"exponents_3": 3, "exponents_6": 6}[regime]
    x = mp.diag([mp.mpf(v) for v in random.uniform(-exponents, exponents, n)])
    return mp.expm(conjugated(x, n, 0.4))


def logarithm(a, t, n):
    """log of the homogeneous matrix: square roots, then the series of log(1 + e)."""
    m = mp.eye(n + 1)
    for i in range(n):
        for j in range(n):
            m[i, j] = mp.mpf(a[n * i + j])
        m[i, n] = mp.mpf(t[i])
    with mp.workdps(120):
        root, k = m, 0
        while mp.mnorm(root - mp.eye(n + 1), "f") > mp.mpf("1e-3"):
            y, z = root, mp.eye(n + 1)  # Denman and Beavers
            while True:
                y, z, last = (y + z**-1) / 2, (z + y**-1) / 2, y
                if mp.mnorm(y - last, "f") < mp.mpf(10) ** -100 * mp.mnorm(y, "f"):
                    break
            root, k = y, k + 1
        e = root - mp.eye(n + 1)
        power, total = e, mp.zeros(n + 1)
        for j in range(1, 40):
            total += power * ((-1) ** (j + 1) / mp.mpf(j))
            power = power * e
        total *= mp.mpf(2) ** k
        assert mp.mnorm(mp.expm(total) - m, "f") < mp.mpf(10) ** -50 * mp.mnorm(m, "f")
        return [total[i, n] for i in range(n)] + [total[i, j] for i in range(n) for j in range(n)]


REGIMES = {
    2: ["random", "near_identity", "jordan", "zero_exponent", "near_cut", "half_turn_scaled", "exponents_6"],
    3: ["random", "near_identity", "jordan", "near_cut", "exponents_3", "exponents_6"],
}


def in_chart(a, n):
    eigenvalues = np.linalg.eigvals(np.array(a, dtype=float).reshape(n, n))
    return all(abs(v.imag) > 1e-12 * abs(v) or v.real > 0 for v in eigenvalues)


def affine(n):
    for regime in REGIMES[n]:
        for bits in (64, 32):
            rows = []
            while len(rows) < SAMPLES:
                exact = linear_part(regime, n)
                a = rounded([exact[i, j] for i in range(n) for j in range(n)], bits)
                t = rounded(random.normal(size=n), bits)
                if in_chart(a, n):
                    rows.append((a + t, logarithm(a, t, n)))
            yield f"aff{n}", regime, bits, rows


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(arguments[0], "w", encoding="ascii") as out:
        print("# made by tools/goldens/lie_logs.py: inputs rounded, logarithms in 50 digits", file=out)
        for blocks in (rotations(), affine(2), affine(3)):
            for group, regime, bits, rows in blocks:
                print(group, regime, f"f{bits}", len(rows[0][0]), len(rows[0][1]), file=out)
                for given, wanted in rows:
                    numbers = [f"{x:.9g}" if bits == 32 else repr(x) for x in given]
                    digits = 12 if bits == 32 else 20
                    print(*numbers, *(mp.nstr(v, digits, min_fixed=0, max_fixed=0) if v else "0" for v in wanted), file=out)
                print(group, regime, bits, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
