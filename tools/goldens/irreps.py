"""Writes tests/goldens/irreps.txt: harmonics and rotation matrices of e3nn (0.6.0) and escnn (1.0.11), Clebsch-Gordan
coefficients of SymPy.   python3 tools/goldens/irreps.py > tests/goldens/irreps.txt"""
import warnings

import numpy as np
import torch
from e3nn import o3
from scipy.special import sph_harm_y
from sympy.physics.quantum.cg import CG

warnings.simplefilter("ignore")
import escnn.group  # noqa: E402

torch.set_default_dtype(torch.float64)
point = np.array([0.3, -0.5, 0.8])
turn = o3.angles_to_matrix(torch.tensor(0.4), torch.tensor(1.1), torch.tensor(-0.7))


def block(name, numbers):
    print(name)
    print(" ".join(repr(float(x)) for x in np.asarray(numbers).ravel()))


block("rotation", turn)
for l in range(5):
    block(f"e3nn harmonics {l}", o3.spherical_harmonics(l, torch.tensor(point), normalize=True, normalization="integral"))
    block(f"e3nn rotation {l}", o3.Irrep(l, 1).D_from_matrix(turn))
group = escnn.group.so3_group(4)
for l in range(5):
    block(f"escnn rotation {l}", group.irrep(l)(group.element(turn.numpy(), "MAT")))
r = np.linalg.norm(point)
for l in range(9):
    y = [sph_harm_y(l, m, np.arccos(point[2] / r), np.arctan2(point[1], point[0])) for m in range(-l, l + 1)]
    block(f"scipy harmonics {l}", [[v.real, v.imag] for v in y])
for l1, l2, l in [(1, 1, 0), (1, 1, 1), (1, 1, 2), (2, 1, 2), (2, 2, 3), (3, 2, 4), (4, 4, 4), (8, 8, 8)]:
    block(f"coupling {l1} {l2} {l}", [[float(CG(l1, m1, l2, m2, l, m1 + m2).doit().evalf(25)) if abs(m1 + m2) <= l else 0
                                       for m2 in range(-l2, l2 + 1)] for m1 in range(-l1, l1 + 1)])
