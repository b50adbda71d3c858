#include "weyl/ops/attention/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>

#include <memory>

#include "weyl/core/check.h"
#include "weyl/kernels/attention/rotary.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

constexpr double nanoseconds = 0.5;  // of a number: estimated, to be measured

/// Inputs x (N, H, 2F) or undefined, cosine and sine (N, H, F).
class Rotation : public Differentiable {
 public:
  explicit Rotation(bool inverse) : inverse_(inverse) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor &x = in[0], &cosine = in[1], sine = inverse_ ? -in[2] : in[2];
    if (!x.defined()) {
      return {at::stack({cosine - sine, sine + cosine}, -1).flatten(-2)};
    }
    const Tensor pairs = x.unflatten(-1, {cosine.size(2), 2});
    const Tensor even = pairs.select(-1, 0), odd = pairs.select(-1, 1);
    return {at::stack({even * cosine - odd * sine, even * sine + odd * cosine}, -1)
                .flatten(-2)
                .to(x.scalar_type())};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor y = in_pairs(in);
    run(in, [&]<class T>(const auto& kernel, const kernels::RotaryInput<T>& from, int64_t first,
                         int64_t last) { kernel.forward(from, mutable_numbers<T>(y), first, last); });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor gy = gys[0].contiguous();
    const Tensors g = gradients_for(in, needed);
    run(in, [&]<class T>(const auto& kernel, const kernels::RotaryInput<T>& from, int64_t first,
                         int64_t last) { kernel.backward(from, numbers<T>(gy), to<T>(g), first, last); });
    return g;
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    const Tensor gy = gys[0].contiguous(), dx = contiguous_of(gg[0]), dcosine = contiguous_of(gg[1]),
                 dsine = contiguous_of(gg[2]), ggy = needed[3] ? in_pairs(in) : Tensor();
    Tensors g = gradients_for(in, needed);
    run(in,
        [&]<class T>(const auto& kernel, const kernels::RotaryInput<T>& from, int64_t first, int64_t last) {
          const kernels::RotaryNumbers<const T> d{numbers<T>(dx), numbers<T>(dcosine), numbers<T>(dsine)};
          kernel.second(from, numbers<T>(gy), d, to<T>(g), mutable_numbers<T>(ggy), first, last);
        });
    g.push_back(ggy);
    return g;
  }

 private:
  static Tensor in_pairs(const Tensors& in) {
    return at::empty({in[1].size(0), in[1].size(1), 2 * in[1].size(2)}, in[1].options());
  }
  static Tensors gradients_for(const Tensors& in, const std::vector<bool>& needed) {
    Tensors g(3);
    for (size_t i = 0; i < 3; ++i) {
      g[i] = needed[i] ? at::empty(in[i].sizes(), in[i].options()) : Tensor();
    }
    return g;
  }
  template <class T>
  static kernels::RotaryNumbers<T> to(const Tensors& g) {
    return {mutable_numbers<T>(g[0]), mutable_numbers<T>(g[1]), mutable_numbers<T>(g[2])};
  }

  template <class F>
  void run(const Tensors& in, const F& work) const {
    const int64_t rows = in[1].size(0), width = 2 * in[1].size(1) * in[1].size(2);
    // Columns of a wider matrix stay where they are.
    const bool in_rows = in[0].defined() && in[0].stride(2) == 1 && in[0].stride(1) == in[0].size(2);
    const Tensor x = in_rows ? in[0] : contiguous_of(in[0]), cosine = in[1].contiguous(),
                 sine = in[2].contiguous();
    with_type(in[1].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const kernels::RotaryInput<T> from{
          width,   x.defined() ? x.stride(0) : 0, numbers<T>(x), numbers<T>(cosine), numbers<T>(sine),
          inverse_};
      const auto& kernel = kernels::best<kernels::RotatePairs<T>>();
      share_out(rows, workers_worth(rows * width, nanoseconds), [&](int64_t, int64_t first, int64_t last) {
        work.template operator()<T>(kernel, from, first, last);
      });
    });
  }

  bool inverse_;
};

}  // namespace

RotaryTable rotary_table(const Tensor& angles) {
  require(angles.dim() == 3, "rotary_table: angles must be (N, H, F), got ", angles.sizes());
  require(angles.scalar_type() == at::kFloat || angles.scalar_type() == at::kDouble,
          "rotary_table: angles must be float32 or float64, got ", angles.scalar_type());
  return {angles.cos(), angles.sin()};
}

Tensor rotate_pairs(const Tensor& x, const RotaryTable& table, bool inverse) {
  const Tensor& cosine = table.cosine;
  require(!x.defined() || (x.dim() == 3 && x.size(0) == cosine.size(0) && x.size(1) == cosine.size(1) &&
                           x.size(2) == 2 * cosine.size(2)),
          "rotate_pairs: x must be (N, H, 2F) of the table ", cosine.sizes(), ", got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  return call(std::make_shared<Rotation>(inverse), {x, cosine, table.sine})[0];
}

}  // namespace weyl
