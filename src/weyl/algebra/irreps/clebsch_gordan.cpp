#include "weyl/algebra/irreps/clebsch_gordan.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using Real = long double;

/// The factor of J+ |j m> = factor |j m+1>.
Real raised(int64_t j, int64_t m) {
  return std::sqrt(static_cast<Real>((j - m) * (j + m + 1)));
}

}  // namespace

ClebschGordan::ClebschGordan(int64_t l1, int64_t l2, int64_t l) : l1_(l1), l2_(l2), l_(l) {
  require(std::min({l1, l2, l}) >= 0 && std::max({l1, l2, l}) <= 64,
          "ClebschGordan: degrees must be from 0 to 64, got (", l1, ", ", l2, ", ", l, ")");
  values_.assign(static_cast<size_t>((2 * l + 1) * (2 * l1 + 1) * (2 * l2 + 1)), 0);
  if (!triangle(l1, l2, l)) {
    return;
  }
  const auto place = [&](int64_t m, int64_t m1) {
    return static_cast<size_t>(((m + l) * (2 * l1 + 1) + m1 + l1) * (2 * l2 + 1) + m - m1 + l2);
  };
  // |l l> is what J+ = J1+ + J2+ takes to zero: from its largest m1 downwards.
  std::vector<Real> state(static_cast<size_t>(2 * l1 + 2), 0);  // by m1 + l1, zero where m2 is none
  const auto first = [&](int64_t m) { return std::max(-l1, m - l2); };
  const auto last = [&](int64_t m) { return std::min(l1, m + l2); };
  Real norm = state[2 * l1] = 1;
  for (int64_t m1 = l1 - 1; m1 >= first(l); --m1) {
    state[m1 + l1] = -state[m1 + 1 + l1] * raised(l2, l - m1 - 1) / raised(l1, m1);
    norm += state[m1 + l1] * state[m1 + l1];
  }
  for (Real& c : state) {
    c /= std::sqrt(norm);
  }
  const int64_t sign = (l1 + l2 - l) % 2 == 0 ? 1 : -1;
  for (int64_t m = l;; --m) {
    for (int64_t m1 = first(m); m1 <= last(m); ++m1) {
      const auto c = static_cast<double>(state[m1 + l1]);
      values_[place(m, m1)] = c;
      values_[place(-m, -m1)] = static_cast<double>(sign) * c;
    }
    if (m == 0) {
      return;
    }
    // J- |l m>: of |m1 m2> from |m1+1 m2> and |m1 m2+1>.
    std::vector<Real> below(state.size(), 0);
    for (int64_t m1 = first(m - 1); m1 <= last(m - 1); ++m1) {
      const int64_t m2 = m - 1 - m1;
      const Real from1 = m1 < l1 ? state[m1 + 1 + l1] * raised(l1, m1) : 0;
      const Real from2 = m2 < l2 ? state[m1 + l1] * raised(l2, m2) : 0;
      below[m1 + l1] = (from1 + from2) / raised(l, m - 1);
    }
    state = std::move(below);
  }
}

}  // namespace weyl
