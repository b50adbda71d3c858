// How steerable features turn with their grid, for tests of what must turn with them.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <complex>
#include <span>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/algebra/irreps/wigner.h"
#include "weyl/core/worst_of.h"

namespace weyl::steerable {

/// (F, F) complex: how features of one pixel turn.
inline at::Tensor turn_of(const SteerableType& type, std::span<const double> r) {
  at::Tensor result = at::zeros({type.width(), type.width()}, at::kComplexDouble);
  std::vector<IrrepMatrix> d;
  if (type.dimension == 3) {
    d = wigner(type.irreps() - 1, std::span<const double, 9>(r.data(), 9));
  }
  for (int64_t l = 0; l < type.irreps(); ++l) {
    const int64_t n = type.components(l), c = type.channels[l], first = type.offset(l);
    for (int64_t m = 0; m < n; ++m) {
      for (int64_t k = 0; k < n; ++k) {
        const std::complex<double> z =
            type.dimension == 3 ? d[l][m * n + k] : std::pow(std::complex<double>(r[0], -r[2]), l);
        for (int64_t i = 0; i < c; ++i) {
          result.index_put_({at::tensor(first + m * c + i), at::tensor(first + k * c + i)},
                            at::scalar_tensor(c10::complex<double>(z.real(), z.imag()), at::kComplexDouble));
        }
      }
    }
  }
  return result;
}

/// As a matrix of real numbers on (2 F).
inline at::Tensor as_real(const at::Tensor& z) {
  const at::Tensor re = at::real(z), im = at::imag(z);
  return at::cat({at::cat({re, -im}, 1), at::cat({im, re}, 1)}, 0);
}

/// x (B, C, n, n[, n]) with its pixels turned, y(R p) = x(p) about the centre.
inline at::Tensor pixels_turned(const at::Tensor& x, std::span<const double> r) {
  const int64_t D = x.dim() - 2, n = x.size(2);
  const at::Tensor flat = x.flatten(2);
  const at::Tensor order = at::empty({flat.size(2)}, at::kLong);
  for (int64_t pixel = 0; pixel < flat.size(2); ++pixel) {
    int64_t p[3] = {}, turned = 0;
    for (int64_t a = D - 1, rest = pixel; a >= 0; --a, rest /= n) {
      p[a] = rest % n;
    }
    for (int64_t i = 0; i < D; ++i) {
      double twice = 0;
      for (int64_t k = 0; k < D; ++k) {
        twice += r[D * i + k] * static_cast<double>(2 * p[k] - n + 1);
      }
      turned = turned * n + (std::llround(twice) + n - 1) / 2;
    }
    order.data_ptr<int64_t>()[turned] = pixel;
  }
  return flat.index_select(2, order).view(x.sizes());
}

/// The largest |f(g x) - g f(x)| / max |f(x)| over quarter turns, or the 24 rotations of the cube.
template <class F>
double turning_error(const F& f, const SteerableType& in, const SteerableType& out, int64_t pixels) {
  const GroupPtr group = named_group(in.dimension == 2 ? "cyclic_4" : "octahedron");
  std::vector<int64_t> shape{2, 2 * in.width()};
  shape.insert(shape.end(), static_cast<size_t>(in.dimension), pixels);
  at::manual_seed(7);
  const at::Tensor x = at::randn(shape, at::kDouble), y = f(x);
  double worst = 0;
  for (int64_t g = 0; g < group->order(); ++g) {
    const auto r = group->element(g);
    const auto acted = [&](const at::Tensor& features, const SteerableType& type) {
      const at::Tensor turned = pixels_turned(features, r);
      return at::matmul(as_real(turn_of(type, r)), turned.flatten(2)).view(turned.sizes());
    };
    const at::Tensor off = f(acted(x, in)) - acted(y, out);
    worst = worst_of(worst, off.abs().max().item<double>() / y.abs().max().item<double>());
  }
  return worst;
}

}  // namespace weyl::steerable
