#include "weyl/ops/lie/pair_network.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pair_network.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/lie/planes.h"

namespace weyl::lie {
namespace {

constexpr double pair_network_nanoseconds = 80;  // of a pair and 32 hidden units: estimated, to be measured

/// Inputs w (P, E), first (H M, E), first_bias (H M), second (H, M), second_bias (H).
class Network : public Differentiable {
 public:
  Network(const Tensor& present, ScoreActivation activation)
      : present_(present.contiguous()), activation_(activation) {}

  Tensors reference(const Tensors& in) const override {
    const int64_t heads = in[3].size(0), hidden = in[3].size(1);
    const Tensor before = at::linear(in[0], in[1], in[2]);
    const Tensor inner = (activation_ == ScoreActivation::relu ? at::relu(before) : at::gelu(before))
                             .view({in[0].size(0), heads, hidden});
    const Tensor y = at::bmm(inner.transpose(0, 1), in[3].unsqueeze(2)).squeeze(2).t() + in[4];
    return {y.masked_fill(at::logical_not(present_).unsqueeze(1), 0)};
  }
  bool has_forward(const Tensors& in) const override {
    return kernels_take(in) && kernels::has_pair_network(in[0].size(1));
  }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    const Operands x(in);
    const int64_t pairs = x.w.size(1);
    const Tensor y = at::empty({x.second.size(0), pairs}, x.w.options());
    with_type(x.w.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::PairNetwork<T>>();
      share_out(pairs, workers_worth(pairs, pair_network_nanoseconds),
                [&](int64_t, int64_t begin, int64_t end) {
                  kernel.forward(arguments<T>(x), y.mutable_data_ptr<T>(), begin, end);
                });
    });
    count_operations(x.first_products() + x.second_products());
    return {y.t()};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Operands x(in);
    const Tensor gy = planes_of(gys[0]);
    count_operations((needed[0] + needed[1]) * x.first_products() + 2 * x.second_products());
    const int64_t pairs = x.w.size(1), workers = workers_worth(pairs, pair_network_nanoseconds);
    const Tensor gw = needed[0] ? at::empty(x.w.sizes(), x.w.options()) : Tensor();
    const Tensor totals = at::zeros(
        {workers, x.first.numel() + x.first_bias.numel() + x.second.numel() + x.second_bias.numel()},
        x.w.options());
    with_type(x.w.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::PairNetwork<T>>();
      share_out(pairs, workers, [&](int64_t worker, int64_t begin, int64_t end) {
        kernels::PairNetworkGradients<T> to;
        to.w = mutable_numbers<T>(gw);
        to.first = totals.mutable_data_ptr<T>() + worker * totals.size(1);
        to.first_bias = to.first + x.first.numel();
        to.second = to.first_bias + x.first_bias.numel();
        to.second_bias = to.second + x.second.numel();
        kernel.backward(arguments<T>(x), numbers<T>(gy), to, begin, end);
      });
    });
    Tensors g{gw.defined() ? gw.t() : gw};
    const Tensor sums = workers == 1 ? totals[0] : totals.sum(0);
    int64_t at = 0;
    for (size_t i = 1; i < in.size(); ++i) {
      g.push_back(sums.narrow(0, at, in[i].numel()).view(in[i].sizes()));
      at += in[i].numel();
    }
    return g;
  }

 private:
  struct Operands {
    explicit Operands(const Tensors& in)
        : w(planes_of(in[0])),
          first(in[1].contiguous()),
          first_bias(in[2].contiguous()),
          second(in[3].contiguous()),
          second_bias(in[4].contiguous()) {}
    /// Floating-point operations of a layer for all pairs, a multiply-add counting two.
    double first_products() const { return 2 * static_cast<double>(w.size(1) * first.numel()); }
    double second_products() const { return 2 * static_cast<double>(w.size(1) * second.numel()); }
    Tensor w, first, first_bias, second, second_bias;
  };
  template <class T>
  kernels::PairNetworkInput<T> arguments(const Operands& x) const {
    kernels::PairNetworkInput<T> n;
    n.pairs = x.w.size(1);
    n.coordinates = x.w.size(0);
    n.heads = x.second.size(0);
    n.hidden = x.second.size(1);
    n.activation = activation_;
    n.w = numbers<T>(x.w);
    n.present = present_.const_data_ptr<bool>();
    n.first = numbers<T>(x.first);
    n.first_bias = numbers<T>(x.first_bias);
    n.second = numbers<T>(x.second);
    n.second_bias = numbers<T>(x.second_bias);
    return n;
  }

  Tensor present_;
  ScoreActivation activation_;
};

void require_shape(const char* name, const Tensor& x, at::IntArrayRef shape, const Tensor& w) {
  require(x.defined() && x.sizes() == shape, "pair_network: ", name, " must be ", shape, ", got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  require(x.scalar_type() == w.scalar_type(), "pair_network: ", name, " must have w's dtype ",
          w.scalar_type(), ", got ", x.scalar_type());
}

}  // namespace

Tensor pair_network(const Tensor& w, const Tensor& present, const Tensor& first, const Tensor& first_bias,
                    const Tensor& second, const Tensor& second_bias, ScoreActivation activation) {
  require(w.defined() && w.dim() == 2, "pair_network: w must be (P, E), got ",
          w.defined() ? w.sizes() : at::IntArrayRef{});
  require(present.defined() && present.dim() == 1 && present.size(0) == w.size(0) &&
              present.scalar_type() == at::kBool,
          "pair_network: present must be (", w.size(0), ") bool");
  require(second.defined() && second.dim() == 2, "pair_network: second must be (H, M), got ",
          second.defined() ? second.sizes() : at::IntArrayRef{});
  const int64_t heads = second.size(0), inner = second.numel();
  require_shape("first", first, {inner, w.size(1)}, w);
  require_shape("first_bias", first_bias, {inner}, w);
  require_shape("second", second, second.sizes(), w);
  require_shape("second_bias", second_bias, {heads}, w);
  return call(std::make_shared<Network>(present, activation), {w, first, first_bias, second, second_bias})[0];
}

}  // namespace weyl::lie
