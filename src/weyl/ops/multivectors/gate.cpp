#include "weyl/ops/multivectors/gate.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include <memory>

#include "weyl/kernels/multivectors/gate.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/multivectors/layout.h"

namespace weyl {
namespace {

constexpr double gate_nanoseconds = 8;  // of a channel of a token: estimated, to be measured

/// Input x (16, N, C).
class GateMultivectors : public Differentiable {
 public:
  explicit GateMultivectors(MultivectorGate gate) : gate_(gate) {}

  Tensors reference(const Tensors& in) const override { return {in[0] * activation(in[0].narrow(0, 0, 1))}; }

  bool recomputes() const override { return true; }
  bool has_forward(const Tensors& in) const override { return kernels_take(in) || cuda_kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }
  bool has_second(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), y = at::empty(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorGating<T>>(in[0].device());
      share(x, [&](int64_t size, int64_t first, int64_t last) {
        kernel.forward(law(), numbers<T>(x), size, mutable_numbers<T>(y), first, last);
      });
    });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    const Tensor x = in[0].contiguous(), gy = gys[0].contiguous(), gx = at::empty(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorGating<T>>(in[0].device());
      share(x, [&](int64_t size, int64_t first, int64_t last) {
        kernel.backward(law(), numbers<T>(x), numbers<T>(gy), size, mutable_numbers<T>(gx), first, last);
      });
    });
    return {gx};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), gy = gys[0].contiguous(), dx = directions[0].contiguous();
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor(),
                 ggy = needed[1] ? at::empty(x.sizes(), x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorGating<T>>(in[0].device());
      share(x, [&](int64_t size, int64_t first, int64_t last) {
        kernel.second(law(), numbers<T>(x), numbers<T>(gy), numbers<T>(dx), size, mutable_numbers<T>(gx),
                      mutable_numbers<T>(ggy), first, last);
      });
    });
    return {gx, ggy};
  }

 private:
  template <class F>
  static void share(const Tensor& x, const F& work) {
    const int64_t size = x.size(1) * x.size(2);
    share_or_queue(x.device(), size, gate_nanoseconds,
                   [&](int64_t first, int64_t last) { work(size, first, last); });
  }

  kernels::GateLaw law() const {
    switch (gate_) {
      case MultivectorGate::relu:
        return kernels::GateLaw::relu;
      case MultivectorGate::sigmoid:
        return kernels::GateLaw::sigmoid;
      case MultivectorGate::gelu:
        break;
    }
    return kernels::GateLaw::gelu;
  }

  Tensor activation(const Tensor& t) const {
    switch (gate_) {
      case MultivectorGate::relu:
        return t.relu();
      case MultivectorGate::sigmoid:
        return t.sigmoid();
      case MultivectorGate::gelu:
        break;
    }
    return at::gelu(t, "tanh");
  }

  MultivectorGate gate_;
};

}  // namespace

Tensor gate_multivectors(const Tensor& x, MultivectorGate gate) {
  require_multivectors("gate_multivectors", "x", x);
  return call(std::make_shared<GateMultivectors>(gate), {x})[0];
}

}  // namespace weyl
