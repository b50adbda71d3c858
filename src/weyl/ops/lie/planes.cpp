#include "weyl/ops/lie/planes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include "weyl/algebra/lie/groups.h"
#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::lie {

Tensor planes_of(const Tensor& rows) {
  return rows.t().contiguous();
}

Tensor planes_like(const Tensor& rows, const Tensor& other) {
  return rows.defined() ? planes_of(rows) : at::zeros_like(other);
}

void require_rotations(const char* where, const Tensor& compact, LieGroup group) {
  if (!is_rigid(group)) {
    return;
  }
  const int64_t size = dimension_of(group) == 2 ? 2 : 4, width = compact.size(1);
  Tensor zero;
  if (kernels_take({compact})) {
    const Tensor rows = compact.contiguous();
    const int64_t found = with_type(rows.scalar_type(), [&](auto none) {
      const auto* x = numbers<decltype(none)>(rows);
      for (int64_t i = 0; i < rows.size(0); ++i) {
        auto square = none;
        for (int64_t c = width - size; c < width; ++c) {
          square += x[i * width + c] * x[i * width + c];
        }
        if (square == 0) {
          return i;
        }
      }
      return rows.size(0);
    });
    if (found == rows.size(0)) {
      return;
    }
  }
  const Tensor part = compact.detach().slice(1, width - size, width);
  const Tensor rows = ((part * part).sum(1) == 0).nonzero();
  require(rows.size(0) == 0, where, ": elements of ", name_of(group), " must have a rotation, got ",
          size == 2 ? "(c, s)" : "a quaternion", " of norm 0 in row ",
          rows.size(0) > 0 ? rows[0][0].item<int64_t>() : 0);
}

Tensor normalised_planes(const Tensor& compact, LieGroup group) {
  const Tensor planes = at::empty({compact.size(1), compact.size(0)}, compact.options());
  const Tensor rows = compact.contiguous();
  with_type(compact.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = numbers<T>(rows);
    T* to = mutable_numbers<T>(planes);
    const int64_t n = rows.size(0);
    kernels::WEYL_ISA::lie::visit(group, [&]<class G>(G) {
      using S = kernels::WEYL_ISA::lie::Computed<G, T>;
      typename G::template Element<S> g;
      for (int64_t i = 0; i < n; ++i) {
        for (int c = 0; c < G::compact; ++c) {
          g[c] = from[i * G::compact + c];
        }
        g = kernels::WEYL_ISA::lie::admitted<G, S>(g);
        for (int c = 0; c < G::compact; ++c) {
          to[c * n + i] = static_cast<T>(g[c]);
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
  const Tensor planes = is_rigid(group) ? planes_of(compact) : normalised_planes(compact, group);
  const Tensor found = at::empty(planes.sizes(), planes.options());
  with_type(compact.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    kernels::best<kernels::LieLogsBackward<T>>().compact(
        elements_of<T>(planes, group), numbers<T>(by_tangent), mutable_numbers<T>(found), 0, planes.size(1));
  });
  return found.t();
}

}  // namespace weyl::lie
