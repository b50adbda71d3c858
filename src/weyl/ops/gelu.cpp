#include "weyl/ops/gelu.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>

#include <memory>

#include "weyl/kernels/gelu.h"
#include "weyl/ops/frames.h"
#include "weyl/ops/kernel_inputs.h"
#include "weyl/ops/parallel.h"

namespace weyl {
namespace {

constexpr int64_t grain = 1 << 13;  // numbers that are worth a worker

/// Inputs x (N, G C) and bias (C), which may be undefined.
class BiasGelu : public Differentiable {
 public:
  Tensors reference(const Tensors& in) const override { return {at::gelu(add_to_frames(in[0], in[1]))}; }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), bias = in[1].defined() ? in[1].contiguous() : in[1];
    const Tensor y = at::empty(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      share_out(x.size(0), worker_count(x.numel(), grain), [&](int64_t, int64_t first, int64_t last) {
        kernels::gelu<T>(arguments<T>(x, bias), y.mutable_data_ptr<T>(), first, last);
      });
    });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), bias = in[1].defined() ? in[1].contiguous() : in[1],
                 gy = gys[0].contiguous();
    const int64_t workers = worker_count(x.numel(), grain);
    Tensors g(2);
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor gbias = needed[1] ? at::zeros({workers, bias.size(0)}, x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      share_out(x.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        T* sums = needed[1] ? gbias.mutable_data_ptr<T>() + w * bias.size(0) : nullptr;
        kernels::gelu_backward<T>(arguments<T>(x, bias), numbers<T>(gy), mutable_numbers<T>(gx), sums, first,
                                  last);
      });
    });
    return {gx, needed[1] ? gbias.sum(0) : Tensor()};
  }

 private:
  template <class T>
  static kernels::Gelu<T> arguments(const Tensor& x, const Tensor& bias) {
    return {x.size(1), bias.defined() ? bias.size(0) : x.size(1), numbers<T>(x), numbers<T>(bias)};
  }
};

}  // namespace

Tensor bias_gelu(const Tensor& x, const Tensor& bias) {
  require_frames("bias_gelu", x, bias);
  return call(std::make_shared<BiasGelu>(), {x, bias})[0];
}

}  // namespace weyl
