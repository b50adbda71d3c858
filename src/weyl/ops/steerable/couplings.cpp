#include "weyl/ops/steerable/couplings.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "weyl/algebra/irreps/clebsch_gordan.h"

namespace weyl::steerable {
namespace {

using Paths = std::vector<std::vector<Product>>;

/// The filter's order between m1 and m, in -(orders-1) .. orders-1; none for none.
std::optional<int64_t> order_between(OrderCoupling coupling, int64_t m, int64_t m1, int64_t orders) {
  const int64_t k = m - m1;
  if (k >= 0 || coupling == OrderCoupling::exact) {
    return k;
  }
  return coupling == OrderCoupling::cyclic ? std::optional(k + orders) : std::nullopt;
}

Paths in_the_plane(const SteerableType& in, int64_t highest, const KernelOptions& options,
                   const RingFilters& f, int64_t m, int64_t m1) {
  const auto order = [&](int64_t from) { return order_between(options.coupling, m, from, highest + 1); };
  const auto kept = [&](int64_t from, int64_t ring) {
    return in.channels[from] > 0 && order(from) && f.kept[(*order(from) + highest) * f.rings + ring];
  };
  Paths paths;
  if (!order(m1)) {
    return paths;
  }
  for (int64_t ring = 0; ring < f.rings; ++ring) {
    bool any = kept(m1, ring);
    for (int64_t other = 0; options.restricted && other < in.irreps(); ++other) {
      any = any || kept(other, ring);
    }
    if (any) {
      paths.push_back({{0, 0, *order(m1) + highest, ring, 1}});
    }
  }
  return paths;
}

Paths in_space(int64_t highest, bool restricted, const RingFilters& f, int64_t l, int64_t l1) {
  Paths paths;
  for (int64_t ring = 0; ring < f.rings; ++ring) {
    bool open = false;
    for (int64_t l2 = std::abs(l - l1); l2 <= std::min(l + l1, highest); ++l2) {
      if (!f.kept[l2 * l2 * f.rings + ring]) {
        continue;
      }
      if (!open || !restricted) {
        paths.emplace_back();
        open = true;
      }
      const ClebschGordan c(l1, l2, l);
      for (int64_t m = -l; m <= l; ++m) {
        for (int64_t m1 = -l1; m1 <= l1; ++m1) {
          const int64_t m2 = m - m1;
          if (std::abs(m2) <= l2 && c(m, m1, m2) != 0) {
            paths.back().push_back({m + l, m1 + l1, l2 * (l2 + 1) + m2, ring, c(m, m1, m2)});
          }
        }
      }
    }
  }
  return paths;
}

}  // namespace

Paths couplings_of(const SteerableType& in, const SteerableType& out, const KernelOptions& options,
                   const RingFilters& filters, int64_t l, int64_t l1) {
  const int64_t highest = std::max(in.irreps(), out.irreps()) - 1;
  return in.dimension == 2 ? in_the_plane(in, highest, options, filters, l, l1)
                           : in_space(highest, options.restricted, filters, l, l1);
}

}  // namespace weyl::steerable
