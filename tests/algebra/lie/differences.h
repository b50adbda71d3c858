// Directions and differences for tests of derivatives.
#pragma once

#include <vector>

#include "tests/lie_groups.h"
#include "weyl/core/random.h"

namespace weyl {

template <class G>
typename G::template Tangent<double> tangent(Stream& stream, double scale) {
  typename G::template Tangent<double> w;
  for (int k = 0; k < G::dof; ++k) {
    w[k] = scale * stream.normal();
  }
  return w;
}

/// Derivatives of `of(x)` by each of the n numbers of x: central differences of fourth order.
template <class Of>
std::vector<double> differences(int n, double h, Of of) {
  std::vector<double> d(n);
  for (int k = 0; k < n; ++k) {
    d[k] = (8 * (of(k, h) - of(k, -h)) - (of(k, 2 * h) - of(k, -2 * h))) / (12 * h);
  }
  return d;
}

}  // namespace weyl
