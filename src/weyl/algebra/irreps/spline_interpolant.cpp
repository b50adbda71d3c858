#include "weyl/algebra/irreps/spline_interpolant.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int64_t support = 3;  // degree 5 is zero from there on

/// The centred cardinal B-spline of degree n; at the jumps of degree 0 their mean.
double b_spline(int64_t n, double x) {
  if (n == 0) {
    return std::abs(x) < 0.5 - 1e-9 ? 1 : std::abs(x) < 0.5 + 1e-9 ? 0.5 : 0;
  }
  const auto d = static_cast<double>(n);
  return ((x + (d + 1) / 2) * b_spline(n - 1, x + 0.5) + ((d + 1) / 2 - x) * b_spline(n - 1, x - 0.5)) / d;
}

}  // namespace

SplineInterpolant::SplineInterpolant(int64_t degree, int64_t size) : degree_(degree), size_(size) {
  require(degree >= 0 && degree <= 5 && size >= 2,
          "SplineInterpolant: degree must be from 0 to 5 and size at least 2, got ", degree, " and ", size);
  // Gauss-Jordan of the matrix of the splines at the values, whose diagonal outweighs the rest of a row.
  inverse_.resize(static_cast<size_t>(size * size));
  std::vector<double> a(inverse_.size());
  for (int64_t i = 0; i < size; ++i) {
    inverse_[i * size + i] = 1;
    for (int64_t k = i - support; k <= i + support; ++k) {
      a[i * size + mirrored(k)] += b_spline(degree, static_cast<double>(i - k));
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    const double pivot = a[i * size + i];
    for (int64_t k = 0; k < size; ++k) {
      a[i * size + k] /= pivot;
      inverse_[i * size + k] /= pivot;
    }
    for (int64_t r = 0; r < size; ++r) {
      const double factor = r == i ? 0 : a[r * size + i];
      for (int64_t k = 0; k < size && factor != 0; ++k) {
        a[r * size + k] -= factor * a[i * size + k];
        inverse_[r * size + k] -= factor * inverse_[i * size + k];
      }
    }
  }
}

std::vector<double> SplineInterpolant::weights(double x) const {
  std::vector<double> result(static_cast<size_t>(size_));
  const auto nearest = static_cast<int64_t>(std::floor(x + 0.5));
  for (int64_t k = nearest - support; k <= nearest + support; ++k) {
    const double b = b_spline(degree_, x - static_cast<double>(k));
    for (int64_t i = 0; i < size_ && b != 0; ++i) {
      result[i] += b * inverse_[mirrored(k) * size_ + i];
    }
  }
  return result;
}

int64_t SplineInterpolant::mirrored(int64_t k) const {
  const int64_t period = 2 * (size_ - 1), place = ((k % period) + period) % period;
  return std::min(place, period - place);
}

}  // namespace weyl
