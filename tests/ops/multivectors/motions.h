// Versors of G(3,0,1) and how multivectors move under them, from the tables alone.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "weyl/algebra/clifford/blades.h"

namespace weyl {

/// (16) times (16) -> (16), by the terms of a product.
template <int terms>
at::Tensor by_terms(const clifford::Product<terms>& product, const at::Tensor& x, const at::Tensor& y) {
  at::Tensor z = at::zeros({clifford::components}, at::kDouble);
  for (const clifford::Term& t : product) {
    z[t.out] += t.sign * x[t.left] * y[t.right];
  }
  return z;
}
inline at::Tensor with_signs(const clifford::Signs& signs, const at::Tensor& x) {
  at::Tensor y = x.clone();
  for (int i = 0; i < clifford::components; ++i) {
    y[i] *= signs[i];
  }
  return y;
}

/// The reflection in the plane with normal n, unit, at distance d from the origin.
inline at::Tensor reflection_in(const at::Tensor& n, double d) {
  at::Tensor plane = at::zeros({clifford::components}, at::kDouble);
  plane.slice(0, clifford::e1, clifford::e3 + 1).copy_(n);
  plane[clifford::e0] = -d;
  return plane;
}

/// The versor of `count` random reflections, in planes up to 1 from the origin: with two of them rotations about lines
/// that miss the origin, which move it.
inline at::Tensor random_versor(int count) {
  at::Tensor versor = at::zeros({clifford::components}, at::kDouble);
  versor[0] = 1;
  for (int i = 0; i < count; ++i) {
    const at::Tensor n = at::randn({3}, at::kDouble);
    versor =
        by_terms(clifford::geometric_terms, reflection_in(n / n.norm(), at::rand({}).item<double>()), versor);
  }
  return versor;
}
/// Two reflections in parallel planes.
inline at::Tensor translation(const std::vector<double>& by) {
  at::Tensor versor = at::zeros({clifford::components}, at::kDouble);
  versor[0] = 1;
  for (int i = 0; i < 3; ++i) {
    versor[clifford::e01 + i] = -by[static_cast<size_t>(i)] / 2;
  }
  return versor;
}

/// (16, 16): x -> u x u^-1, of odd u with the grade involution of x.
inline at::Tensor motion_matrix(const at::Tensor& u, bool odd) {
  const at::Tensor inverse = with_signs(clifford::reverse_signs, u);
  const double norm = by_terms(clifford::geometric_terms, u, inverse)[0].item<double>();
  at::Tensor matrix = at::empty({clifford::components, clifford::components}, at::kDouble);
  for (int j = 0; j < clifford::components; ++j) {
    at::Tensor blade = at::zeros({clifford::components}, at::kDouble);
    blade[j] = odd ? clifford::involution_signs[j] : 1;
    const at::Tensor left = by_terms(clifford::geometric_terms, u, blade);
    matrix.select(1, j).copy_(by_terms(clifford::geometric_terms, left, inverse) / norm);
  }
  return matrix;
}

struct Motion {
  at::Tensor matrix;
  bool mirrored = false;

  /// (16, N, C).
  at::Tensor operator()(const at::Tensor& x) const {
    return at::matmul(matrix.to(x.scalar_type()), x.flatten(1)).view(x.sizes());
  }
};

/// Rotations about lines anywhere, translations, reflections, rotatory reflections.
inline std::vector<Motion> motions() {
  at::manual_seed(7);
  std::vector<Motion> all;
  for (int count = 1; count <= 4; ++count) {
    all.push_back({motion_matrix(random_versor(count), count % 2 == 1), count % 2 == 1});
  }
  all.push_back({motion_matrix(translation({0.7, -1.1, 0.4}), false), false});
  return all;
}

}  // namespace weyl
