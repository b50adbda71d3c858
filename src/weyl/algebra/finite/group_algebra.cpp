#include "weyl/algebra/finite/group_algebra.h"

#include <algorithm>
#include <cmath>

#include "weyl/algebra/finite/symmetric_eigen.h"

namespace weyl {

Combination translated(const GroupTable& group, int64_t x, const Combination& f) {
  Combination moved(f.size());
  for (int64_t g = 0; g < group.order(); ++g) {
    moved[group.product(x, g)] = f[g];
  }
  return moved;
}

Combination product(const GroupTable& group, std::span<const int64_t> elements,
                    std::span<const DoubleDouble> weights, const Combination& f) {
  Combination sum(f.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (weights[i].high == 0) {
      continue;
    }
    for (int64_t g = 0; g < group.order(); ++g) {
      sum[group.product(elements[i], g)] += weights[i] * f[g];
    }
  }
  return sum;
}

Combination product(const GroupTable& group, const Combination& a, const Combination& b) {
  std::vector<int64_t> all(group.order());
  for (int64_t g = 0; g < group.order(); ++g) {
    all[g] = g;
  }
  return product(group, all, a, b);
}

DoubleDouble dot(const Combination& a, const Combination& b) {
  DoubleDouble sum;
  for (size_t g = 0; g < a.size(); ++g) {
    sum += a[g] * b[g];
  }
  return sum;
}

void scale(DoubleDouble factor, Combination& f) {
  for (auto& x : f) {
    x *= factor;
  }
}

void remove_along(const Combination& unit, Combination& f) {
  const DoubleDouble part = dot(unit, f);
  for (size_t g = 0; g < f.size(); ++g) {
    f[g] -= part * unit[g];
  }
}

Combination top_idempotent(const GroupTable& group, const Combination& idempotent, int64_t x) {
  // Powers of s = e (x + x^-1) e, orthonormal, span the idempotents of its eigenvalues.
  Combination both = translated(group, x, idempotent);
  const Combination back = translated(group, group.inverse(x), idempotent);
  for (size_t g = 0; g < both.size(); ++g) {
    both[g] += back[g];
  }
  const Combination s = product(group, idempotent, both);
  std::vector<Combination> basis, images;
  for (Combination next = idempotent;;) {
    for (int64_t twice = 0; twice < 2; ++twice) {
      for (const auto& unit : basis) {
        remove_along(unit, next);
      }
    }
    const DoubleDouble length = sqrt(dot(next, next));
    if (length.high < 1e-12) {  // others are above 1e-3
      break;
    }
    scale(DoubleDouble(1) / length, next);
    basis.push_back(next);
    next = product(group, s, next);
    images.push_back(next);
  }
  const auto n = static_cast<int64_t>(basis.size());
  std::vector<DoubleDouble> matrix(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      matrix[i * n + j] = matrix[j * n + i] = dot(basis[i], images[j]);
    }
  }
  const auto top = top_eigenvector(n, matrix);
  Combination vector(idempotent.size());
  for (int64_t i = 0; i < n; ++i) {
    for (size_t g = 0; g < vector.size(); ++g) {
      vector[g] += top[i] * basis[i][g];
    }
  }
  scale(dot(vector, idempotent), vector);
  return vector;
}

}  // namespace weyl
