#include "weyl/data/makers/sequence_step.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace weyl {
namespace {

constexpr double kAffineStep = 0.15;  // of the entries of a step's linear part

/// Uniform in the ball (interval) of radius b.
void draw_rotation_vector(Stream& stream, double bound, std::span<double> omega) {
  double square = 0;
  do {
    square = 0;
    for (double& x : omega) {
      x = 2 * stream.uniform() - 1;
      square += x * x;
    }
  } while (square >= 1);
  for (double& x : omega) {
    x *= bound;
  }
}

/// X with independent entries, through hat and vee so that the order of coordinates is the algebra's.
void draw_affine(const Lie<double>& lie, Stream& stream, std::vector<double>& w) {
  const int n = dimension_of(lie.group), m = matrix_size(lie.group);
  std::vector<double> hat(m * m);
  lie.hat(w, hat);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      hat[i * m + j] = kAffineStep * stream.normal();
    }
  }
  lie.vee(hat, w);
}

/// The largest |Im lambda| of the linear part X. It is the angle of the complex pair: from the discriminant
/// in the plane, from the one real root and the trace in space.
double largest_angle(const Lie<double>& lie, const std::vector<double>& w) {
  const int n = dimension_of(lie.group), m = matrix_size(lie.group);
  std::vector<double> X(m * m);
  lie.hat(w, X);
  const auto x = [&](int i, int j) { return X[i * m + j]; };
  if (n == 2) {
    const double p = (x(0, 0) - x(1, 1)) / 2, d = p * p + x(0, 1) * x(1, 0);
    return d < 0 ? std::sqrt(-d) : 0;
  }
  const double trace = x(0, 0) + x(1, 1) + x(2, 2);
  double second = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      second += x(i, i) * x(j, j) - x(i, j) * x(j, i);
    }
  }
  const double det = x(0, 0) * (x(1, 1) * x(2, 2) - x(1, 2) * x(2, 1)) -
                     x(0, 1) * (x(1, 0) * x(2, 2) - x(1, 2) * x(2, 0)) +
                     x(0, 2) * (x(1, 0) * x(2, 1) - x(1, 1) * x(2, 0));
  // lambda = y + trace/3 with y^3 + p y + q = 0
  const double p = second - trace * trace / 3;
  const double q = -2 * trace * trace * trace / 27 + trace * second / 3 - det;
  const double discriminant = q * q / 4 + p * p * p / 27;
  if (discriminant <= 0) {
    return 0;  // three real roots
  }
  const double root = std::sqrt(discriminant);
  return std::numbers::sqrt3 / 2 * std::abs(std::cbrt(-q / 2 + root) - std::cbrt(-q / 2 - root));
}

}  // namespace

std::vector<double> draw_step(const Lie<double>& lie, double spread, double bound, Stream& stream) {
  std::vector<double> w(degrees_of_freedom(lie.group));
  const bool rigid = is_rigid(lie.group);
  while (true) {
    for (const LieBlock& block : blocks_of(lie.group)) {
      if (block.part == LiePart::translation) {
        for (int k = 0; k < block.size; ++k) {
          w[block.begin + k] = spread * stream.normal();
        }
      } else if (rigid) {
        draw_rotation_vector(stream, bound, std::span(w).subspan(block.begin, block.size));
      }
    }
    if (rigid) {
      return w;
    }
    draw_affine(lie, stream, w);
    if (largest_angle(lie, w) < bound) {
      return w;
    }
  }
}

}  // namespace weyl
