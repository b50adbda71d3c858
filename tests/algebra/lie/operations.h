// The operations of a Lie group with results returned, for tests of the run-time interface.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "weyl/algebra/lie/group.h"
#include "weyl/core/worst_of.h"

namespace weyl {

/// Laws that hold in both precisions.
template <class T>
class LieLaws : public testing::Test {
 public:
  static constexpr double eps = std::numeric_limits<T>::epsilon();
};
using LiePrecisions = testing::Types<float, double>;

/// One group in one precision, with results returned.
template <class T>
struct Of : Lie<T> {
  using Numbers = std::vector<T>;
  using Lie<T>::Lie;
  using Lie<T>::group;
  size_t size = compact_size(group), dof = degrees_of_freedom(group), m = matrix_size(group);
  Stream stream{3, "lie laws"};

  Numbers random() {
    Numbers g(size);
    Lie<T>::random(stream, g);
    return g;
  }
  /// A tangent with coordinates N(0, scale^2).
  Numbers tangent(double scale) {
    Numbers w(dof);
    std::ranges::generate(w, [&] { return static_cast<T>(scale * stream.normal()); });
    return w;
  }
  Numbers product(const Numbers& a, const Numbers& b) const {
    Numbers g(size);
    this->compose(a, b, g);
    return g;
  }
  Numbers back(const Numbers& a) const {
    Numbers g(size);
    this->inverse(a, g);
    return g;
  }
  Numbers exp_of(const Numbers& w) const {
    Numbers g(size);
    this->exp(w, g);
    return g;
  }
  Numbers log_of(const Numbers& g) const {
    Numbers w(dof);
    this->log(g, w);
    return w;
  }
  Numbers matrix(const Numbers& g) const {
    Numbers x(m * m);
    this->to_matrix(g, x);
    return x;
  }
  Numbers square(void (Lie<T>::*f)(std::span<const T>, std::span<T>) const, const Numbers& of) const {
    Numbers y(dof * dof);
    (this->*f)(of, y);
    return y;
  }
  /// By matrices, so that q and -q are one; relative to their size.
  static double distance(const Of& of, const Numbers& a, const Numbers& b) {
    const Numbers x = of.matrix(a), y = of.matrix(b);
    double worst = 0, size = 1;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = worst_of(worst, std::abs(x[i] - y[i]));
      size = worst_of(size, std::abs(x[i]));
    }
    return worst / size;
  }
};

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    worst = worst_of(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}
/// (n, n) times (n, n) or (n, 1).
template <class T>
std::vector<T> times(const std::vector<T>& a, const std::vector<T>& b) {
  const size_t n = static_cast<size_t>(std::lround(std::sqrt(a.size()))), columns = b.size() / n;
  std::vector<T> y(b.size(), 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < columns; ++j) {
        y[i * columns + j] += a[i * n + k] * b[k * columns + j];
      }
    }
  }
  return y;
}

}  // namespace weyl
