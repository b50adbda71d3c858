#include "weyl/ops/frames/bias_activation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <memory>

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/frames/bias_activation.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/frames.h"

namespace weyl {
namespace {

constexpr double nanoseconds = 1;  // of a number: estimated, to be measured

using kernels::ActivationLaw;

/// Inputs x (N, G C) and bias (C), which may be undefined.
class BiasActivation : public Differentiable {
 public:
  explicit BiasActivation(ActivationLaw law) : law_(law) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor t = add_to_frames(in[0], in[1]);
    return {law_ == ActivationLaw::gelu ? at::gelu(t) : at::silu(t)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), bias = contiguous_of(in[1]);
    const Tensor y = at::empty(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_out(x.size(0), workers_worth(x.numel(), nanoseconds), [&](int64_t, int64_t first, int64_t last) {
        kernel.forward(arguments<T>(x, bias), y.mutable_data_ptr<T>(), first, last);
      });
    });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), bias = contiguous_of(in[1]), gy = gys[0].contiguous();
    const int64_t workers = workers_worth(x.numel(), nanoseconds);
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor sums = needed[1] ? at::zeros({workers, bias.size(0)}, x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_out(x.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        kernel.backward(arguments<T>(x, bias), numbers<T>(gy), mutable_numbers<T>(gx), row_of<T>(sums, w),
                        first, last);
      });
    });
    return {gx, needed[1] ? sums.sum(0) : Tensor()};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), bias = contiguous_of(in[1]), gy = gys[0].contiguous(),
                 dx = contiguous_of(directions[0]), dbias = contiguous_of(directions[1]);
    const int64_t workers = workers_worth(x.numel(), nanoseconds);
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor(),
                 ggy = needed[2] ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor sums = needed[1] ? at::zeros({workers, bias.size(0)}, x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_out(x.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        kernel.second(arguments<T>(x, bias), numbers<T>(gy), numbers<T>(dx), numbers<T>(dbias),
                      mutable_numbers<T>(gx), row_of<T>(sums, w), mutable_numbers<T>(ggy), first, last);
      });
    });
    return {gx, needed[1] ? sums.sum(0) : Tensor(), ggy};
  }

 private:
  template <class T>
  kernels::BiasActivationInput<T> arguments(const Tensor& x, const Tensor& bias) const {
    return {law_, x.size(1), bias.defined() ? bias.size(0) : x.size(1), numbers<T>(x), numbers<T>(bias)};
  }

  ActivationLaw law_;
};

}  // namespace

Tensor bias_gelu(const Tensor& x, const Tensor& bias) {
  require_frames("bias_gelu", x, bias);
  return call(std::make_shared<BiasActivation>(ActivationLaw::gelu), {x, bias})[0];
}
Tensor bias_silu(const Tensor& x, const Tensor& bias) {
  require_frames("bias_silu", x, bias);
  return call(std::make_shared<BiasActivation>(ActivationLaw::silu), {x, bias})[0];
}

}  // namespace weyl
