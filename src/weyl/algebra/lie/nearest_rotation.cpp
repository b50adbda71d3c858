#include "weyl/algebra/lie/nearest_rotation.h"

#include <cmath>

namespace weyl {

std::array<double, 4> nearest_rotation(const std::array<double, 9>& m) {
  const double trace = m[0] + m[4] + m[8];
  double K[4][4], vectors[4][4] = {};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      K[i][j] = m[3 * i + j] + m[3 * j + i] - (i == j ? trace : 0);
    }
  }
  K[0][3] = K[3][0] = m[7] - m[5];
  K[1][3] = K[3][1] = m[2] - m[6];
  K[2][3] = K[3][2] = m[3] - m[1];
  K[3][3] = trace;
  for (int i = 0; i < 4; ++i) {
    vectors[i][i] = 1;
  }
  // Jacobi's rotations: quadratic convergence, six sweeps are plenty for 4x4.
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 3; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        if (K[p][q] == 0) {
          continue;
        }
        const double tau = (K[q][q] - K[p][p]) / (2 * K[p][q]);
        const double t = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        for (int k = 0; k < 4; ++k) {
          const double a = K[k][p], b = K[k][q];
          K[k][p] = c * a - s * b;
          K[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 4; ++k) {
          const double a = K[p][k], b = K[q][k];
          K[p][k] = c * a - s * b;
          K[q][k] = s * a + c * b;
        }
        for (auto& row : vectors) {
          const double a = row[p], b = row[q];
          row[p] = c * a - s * b;
          row[q] = s * a + c * b;
        }
      }
    }
  }
  int best = 3;
  for (int i = 0; i < 3; ++i) {
    best = K[i][i] > K[best][best] ? i : best;
  }
  const double sign = vectors[3][best] < 0 ? -1 : 1;
  return {sign * vectors[0][best], sign * vectors[1][best], sign * vectors[2][best], sign * vectors[3][best]};
}

}  // namespace weyl
