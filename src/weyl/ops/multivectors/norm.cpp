#include "weyl/ops/multivectors/norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rsqrt.h>

#include <memory>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/kernels/multivectors/norm.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/multivectors/kernel_rows.h"
#include "weyl/ops/multivectors/layout.h"

namespace weyl {
namespace {

constexpr double norm_nanoseconds = 0.3;  // of a number: estimated, to be measured

/// Input x (16, N, C). By-product: the state of the kernels, (N).
class NormaliseMultivectors : public Differentiable {
 public:
  explicit NormaliseMultivectors(double epsilon) : epsilon_(epsilon) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor& x = in[0];
    Tensor squares;  // (N, C)
    for (const int i : clifford::inner_indices) {
      const Tensor square = x.select(0, i).square();
      squares = squares.defined() ? squares + square : square;
    }
    return {x * squares.mean(-1, /*keepdim=*/true).clamp_min(epsilon_).rsqrt()};
  }

  bool recomputes() const override { return true; }
  bool has_forward(const Tensors& in) const override { return kernels_take(in) || cuda_kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }
  bool has_second(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    const ComponentRows x(in[0]);
    const Tensor y = at::empty(in[0].sizes(), in[0].options()), state = at::empty({y.size(1)}, y.options());
    with_type(y.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorNorm<T>>(in[0].device());
      share(y, [&](int64_t first, int64_t last) {
        kernel.forward(x.read<T>(), y.size(2), static_cast<T>(epsilon_), ComponentRows(y).write<T>(),
                       mutable_numbers<T>(state), first, last);
      });
    });
    return {y, state};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>&) const override {
    const ComponentRows x(in[0]), gy(gys[0]);
    const Tensor gx = at::empty(in[0].sizes(), in[0].options()), state = out[1].contiguous();
    with_type(gx.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorNorm<T>>(in[0].device());
      share(gx, [&](int64_t first, int64_t last) {
        kernel.backward(x.read<T>(), gx.size(2), numbers<T>(state), gy.read<T>(),
                        ComponentRows(gx).write<T>(), first, last);
      });
    });
    return {gx};
  }

  Tensors second(const Tensors& in, const Tensors& out, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const ComponentRows x(in[0]), gy(gys[0]), dx(directions[0]);
    const Tensor gx = needed[0] ? at::empty(in[0].sizes(), in[0].options()) : Tensor(),
                 ggy = needed[1] ? at::empty(in[0].sizes(), in[0].options()) : Tensor(),
                 state = out[1].contiguous();
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorNorm<T>>(in[0].device());
      share(in[0], [&](int64_t first, int64_t last) {
        kernel.second(x.read<T>(), in[0].size(2), numbers<T>(state), gy.read<T>(), dx.read<T>(),
                      ComponentRows(gx).write<T>(), ComponentRows(ggy).write<T>(), first, last);
      });
    });
    return {gx, ggy};
  }

 private:
  template <class F>
  static void share(const Tensor& x, const F& work) {
    share_or_queue(x.device(), x.size(1), norm_nanoseconds * static_cast<double>(x.size(0) * x.size(2)),
                   work);
  }

  double epsilon_;
};

}  // namespace

Tensor normalise_multivectors(const Tensor& x, double epsilon) {
  const char* where = "normalise_multivectors";
  require_multivectors(where, "x", x);
  require(x.size(2) > 0, where, ": x must have a channel, got ", x.sizes());
  require(epsilon > 0, where, ": epsilon must be above 0, got ", epsilon);
  const FullPrecision no_autocast;
  return call(std::make_shared<NormaliseMultivectors>(epsilon), {widened(x)})[0];
}

}  // namespace weyl
