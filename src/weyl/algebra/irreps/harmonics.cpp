#include "weyl/algebra/irreps/harmonics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {

std::vector<std::complex<double>> circular_harmonics(int64_t orders, double angle) {
  require(orders >= 0, "circular_harmonics: orders must be at least 0, got ", orders);
  std::vector<std::complex<double>> result;
  for (int64_t k = 0; k < orders; ++k) {
    result.push_back(std::polar(1.0, static_cast<double>(k) * angle));
  }
  return result;
}

std::vector<std::complex<double>> spherical_harmonics(int64_t degree, std::span<const double, 3> point) {
  require(degree >= 0 && degree <= 64, "spherical_harmonics: degree must be from 0 to 64, got ", degree);
  const double largest = std::max({std::abs(point[0]), std::abs(point[1]), std::abs(point[2])});
  require(std::isfinite(point[0] + point[1] + point[2]) && std::isfinite(largest),
          "spherical_harmonics: the point must be finite, got (", point[0], ", ", point[1], ", ", point[2],
          ")");
  std::vector<std::complex<double>> result(static_cast<size_t>((degree + 1) * (degree + 1)));
  result[0] = 0.5 * std::numbers::inv_sqrtpi;
  if (largest == 0) {
    return result;
  }
  // Y_l^m = P_l^m(z) (x + i y)^m on the unit sphere, P_l^m a polynomial: no division by sin(theta) at the
  // poles.
  double x = point[0] / largest, y = point[1] / largest, z = point[2] / largest;
  const double r = std::sqrt(x * x + y * y + z * z);
  x /= r, y /= r, z /= r;
  std::complex<double> power = 1;
  double diagonal = 0.5 * std::numbers::inv_sqrtpi;  // P_m^m, with (-1)^m
  for (int64_t m = 0; m <= degree; ++m) {
    double before = 0, p = diagonal;
    for (int64_t l = m; l <= degree; ++l) {
      const std::complex<double> value = p * power;
      const int64_t centre = l * (l + 1);
      result[centre + m] = value;
      result[centre - m] = m % 2 == 0 ? std::conj(value) : -std::conj(value);
      // The three-term recurrence of normalised Legendre functions in l.
      const auto n = static_cast<double>(l + 1), k = static_cast<double>(m);
      const double up = std::sqrt((4 * n * n - 1) / (n * n - k * k));
      const double down = std::sqrt(((n - 1) * (n - 1) - k * k) / (4 * (n - 1) * (n - 1) - 1));
      const double next = up * (z * p - (l > m ? down * before : 0));
      before = p;
      p = next;
    }
    const auto next = static_cast<double>(m + 1);
    diagonal *= -std::sqrt((2 * next + 1) / (2 * next));
    power *= std::complex<double>(x, y);
  }
  return result;
}

}  // namespace weyl
