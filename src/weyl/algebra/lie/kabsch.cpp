#include "weyl/algebra/lie/kabsch.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using Quaternion = std::array<double, 4>;  // w, x, y, z
using Matrix4 = std::array<Quaternion, 4>;

/// Eigenvalues of a symmetric matrix, and the vectors of them as rows, by Jacobi's rotations.
struct Eigen4 {
  Quaternion values{};
  Matrix4 vectors{Quaternion{1, 0, 0, 0}, Quaternion{0, 1, 0, 0}, Quaternion{0, 0, 1, 0},
                  Quaternion{0, 0, 0, 1}};
};

Eigen4 eigen(Matrix4 a) {
  Eigen4 result;
  constexpr int most_sweeps = 50;  // six are usual
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool changed = false;
    for (size_t p = 0; p < 4; ++p) {
      for (size_t q = p + 1; q < 4; ++q) {
        if (std::abs(a[p][q]) <= 1e-300 ||
            std::abs(a[p][q]) <= 1e-17 * (std::abs(a[p][p]) + std::abs(a[q][q]))) {
          continue;
        }
        changed = true;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
        const double c = 1 / std::hypot(t, 1), s = t * c;
        for (size_t k = 0; k < 4; ++k) {  // columns p and q, then rows
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (size_t k = 0; k < 4; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
          const double u = result.vectors[p][k], v = result.vectors[q][k];
          result.vectors[p][k] = c * u - s * v;
          result.vectors[q][k] = s * u + c * v;
        }
      }
    }
    if (!changed) {
      break;
    }
  }
  for (size_t k = 0; k < 4; ++k) {
    result.values[k] = a[k][k];
  }
  return result;
}

/// The unit quaternion nearest to the identity among those of the largest eigenvalue.
Quaternion best_quaternion(const Matrix4& matrix) {
  const Eigen4 found = eigen(matrix);
  const auto best = static_cast<size_t>(std::ranges::max_element(found.values) - found.values.begin());
  double scale = 0;
  for (const double value : found.values) {
    scale = std::max(scale, std::abs(value));
  }
  Quaternion q{};
  for (size_t k = 0; k < 4; ++k) {
    if (found.values[k] >= found.values[best] - 1e-12 * scale) {
      for (size_t c = 0; c < 4; ++c) {
        q[c] += found.vectors[k][0] * found.vectors[k][c];
      }
    }
  }
  const double norm = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
  if (norm < 1e-6) {  // all of them turn by half a turn
    return found.vectors[best];
  }
  std::ranges::for_each(q, [norm](double& x) { x /= norm; });
  return q;
}

}  // namespace

Vector3 mean_of(std::span<const Vector3> points) {
  Vector3 mean{};
  for (const Vector3& p : points) {
    for (size_t c = 0; c < 3; ++c) {
      mean[c] += p[c] / static_cast<double>(points.size());
    }
  }
  return mean;
}

Vector3 RigidFit::operator()(const Vector3& x) const {
  return {dot(rotation[0], x) + translation[0], dot(rotation[1], x) + translation[1],
          dot(rotation[2], x) + translation[2]};
}

RigidFit kabsch(std::span<const Vector3> from, std::span<const Vector3> to) {
  require(from.size() == to.size(), "kabsch: must have as many points as are to be met, ", to.size(),
          ", got ", from.size());
  RigidFit fit;
  if (from.empty()) {
    return fit;
  }
  const Vector3 a = mean_of(from), b = mean_of(to);
  std::array<Vector3, 3> s{};  // s[i][j] = sum over points of from_i to_j, both from their means
  for (size_t n = 0; n < from.size(); ++n) {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        s[i][j] += (from[n][i] - a[i]) * (to[n][j] - b[j]);
      }
    }
  }
  const double yz = s[1][2] - s[2][1], zx = s[2][0] - s[0][2], xy = s[0][1] - s[1][0];
  const double xy2 = s[0][1] + s[1][0], zx2 = s[2][0] + s[0][2], yz2 = s[1][2] + s[2][1];
  const auto [w, x, y, z] = best_quaternion({Quaternion{s[0][0] + s[1][1] + s[2][2], yz, zx, xy},
                                             Quaternion{yz, s[0][0] - s[1][1] - s[2][2], xy2, zx2},
                                             Quaternion{zx, xy2, -s[0][0] + s[1][1] - s[2][2], yz2},
                                             Quaternion{xy, zx2, yz2, -s[0][0] - s[1][1] + s[2][2]}});
  fit.rotation = {Vector3{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                  Vector3{2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                  Vector3{2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
  const Vector3 turned = RigidFit{fit.rotation, {}}(a);
  for (size_t c = 0; c < 3; ++c) {
    fit.translation[c] = b[c] - turned[c];
  }
  return fit;
}

}  // namespace weyl
