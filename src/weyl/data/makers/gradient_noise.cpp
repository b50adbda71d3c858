#include "weyl/data/makers/gradient_noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weyl {
namespace {

double smooth(double t) {
  return t * t * t * (t * (6 * t - 15) + 10);
}

double mixed(double a, double b, double t) {
  return a + t * (b - a);
}

/// 16 directions, as many as a nibble tells apart.
const std::array<std::array<double, 2>, 16>& directions() {
  static const auto table = [] {
    std::array<std::array<double, 2>, 16> t{};
    for (int k = 0; k < 16; ++k) {
      t[k] = {std::cos(k * std::numbers::pi / 8), std::sin(k * std::numbers::pi / 8)};
    }
    return t;
  }();
  return table;
}

}  // namespace

GradientNoise::GradientNoise(Stream& stream) {
  const auto order = stream.permutation(256);
  std::copy(order.begin(), order.end(), order_.begin());
}

double GradientNoise::operator()(double x, double y) const {
  const double fx = std::floor(x), fy = std::floor(y), u = x - fx, v = y - fy;
  const auto i = static_cast<uint32_t>(static_cast<int64_t>(fx)),
             j = static_cast<uint32_t>(static_cast<int64_t>(fy));
  const auto corner = [&](uint32_t a, uint32_t b) {
    const uint8_t hash = order_[(order_[(i + a) & 255U] + j + b) & 255U];
    const auto& d = directions()[hash & 15U];
    return d[0] * (u - a) + d[1] * (v - b);
  };
  const double s = smooth(u), t = smooth(v);
  return mixed(mixed(corner(0, 0), corner(1, 0), s), mixed(corner(0, 1), corner(1, 1), s), t);
}

double GradientNoise::sum(double x, double y, int octaves) const {
  double total = 0, weight = 1;
  for (int k = 0; k < octaves; ++k, weight /= 2) {
    total += weight * (*this)(x / weight, y / weight);
  }
  return total;
}

}  // namespace weyl
