// Logarithms between all elements of two lists, by the kernels that take such lists (kernels/lie/pairs.h). The
// library's ops gather pairs first; tests and timings take them here.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "weyl/kernels/dispatch.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/lie/planes.h"

namespace weyl {

/// Inputs a (N, c), b (M, c). Result w (N, dof, M).
class AllPairLogs : public Differentiable {
 public:
  explicit AllPairLogs(LieGroup group) : group_(group) {}

  Tensors reference(const Tensors& in) const override {
    const int64_t n = in[0].size(0), m = in[1].size(0), dof = degrees_of_freedom(group_);
    const Tensor w = lie::logs(in[0].repeat_interleave(m, 0), in[1].repeat({n, 1}), group_).w;  // (N M, dof)
    return {w.view({n, m, dof}).transpose(1, 2)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor a = lie::normalised_planes(in[0], group_), b = lie::normalised_planes(in[1], group_);
    const Tensor w = at::empty({a.size(1), degrees_of_freedom(group_), b.size(1)}, a.options());
    with_type(a.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::best<kernels::LieLogs<T>>().pairs(lie::elements_of<T>(a, group_),
                                                 lie::elements_of<T>(b, group_), mutable_numbers<T>(w),
                                                 nullptr, 0, a.size(1));
    });
    return {w};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    const Tensor a = lie::normalised_planes(in[0], group_), b = lie::normalised_planes(in[1], group_);
    const int64_t dof = degrees_of_freedom(group_);
    const Tensor gw = gys[0].contiguous(), ga = at::zeros({dof, a.size(1)}, a.options()),
                 gb = at::zeros({dof, b.size(1)}, a.options());
    with_type(a.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::best<kernels::LieLogsBackward<T>>().pairs(
          lie::elements_of<T>(a, group_), lie::elements_of<T>(b, group_), numbers<T>(gw),
          mutable_numbers<T>(ga), mutable_numbers<T>(gb), 0, a.size(1));
    });
    return {lie::compact_gradient(in[0], ga, group_), lie::compact_gradient(in[1], gb, group_)};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& ggs,
                 const std::vector<bool>&) const override {
    const Tensor a = lie::planes_of(in[0]), b = lie::planes_of(in[1]), gw = gys[0].contiguous();
    const Tensor va = lie::planes_like(ggs[0], a), vb = lie::planes_like(ggs[1], b);
    const Tensor ga = at::zeros_like(a), gb = at::zeros_like(b), ggw = at::empty_like(gw);
    with_type(a.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::best<kernels::LieLogsSecond<T>>().pairs(
          lie::elements_of<T>(a, group_), lie::elements_of<T>(b, group_), numbers<T>(gw), numbers<T>(va),
          numbers<T>(vb), mutable_numbers<T>(ggw), mutable_numbers<T>(ga), mutable_numbers<T>(gb), 0,
          a.size(1));
    });
    return {ga.t(), gb.t(), ggw};
  }

 private:
  LieGroup group_;
};

}  // namespace weyl
