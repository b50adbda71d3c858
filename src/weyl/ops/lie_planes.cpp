#include "weyl/ops/lie_planes.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include "weyl/kernels/lie/groups.h"

namespace weyl {

Tensor planes_of(const Tensor& rows) {
  return rows.t().contiguous();
}

Tensor planes_like(const Tensor& rows, const Tensor& other) {
  return rows.defined() ? planes_of(rows) : at::zeros_like(other);
}

Tensor normalised_planes(const Tensor& compact, LieGroup group) {
  if (!is_rigid(group)) {
    return planes_of(compact);
  }
  const Tensor planes = at::empty({compact.size(1), compact.size(0)}, compact.options());
  const Tensor rows = compact.contiguous();
  with_type(compact.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = numbers<T>(rows);
    T* to = mutable_numbers<T>(planes);
    const int64_t n = rows.size(0);
    kernels::WEYL_ISA::lie::visit(group, [&]<class G>(G) {
      typename G::template Element<T> g;
      for (int64_t i = 0; i < n; ++i) {
        for (int c = 0; c < G::compact; ++c) {
          g[c] = from[i * G::compact + c];
        }
        g = G::exactly_normalised(g);
        for (int c = 0; c < G::compact; ++c) {
          to[c * n + i] = g[c];
        }
      }
    });
  });
  return planes;
}

Tensor compact_gradient(const Tensor& compact, const Tensor& by_tangent, LieGroup group) {
  if (!by_tangent.defined()) {
    return {};
  }
  const Tensor planes = planes_of(compact), found = at::empty(planes.sizes(), planes.options());
  with_type(compact.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    kernels::lie_compact_gradients<T>(elements_of<T>(planes, group), numbers<T>(by_tangent),
                                      mutable_numbers<T>(found), 0, planes.size(1));
  });
  return found.t();
}

}  // namespace weyl
