#include "weyl/ops/attention/rotary_attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/attention_units.h"
#include "weyl/ops/attention/rotary.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"

namespace weyl {
namespace {

/// Inputs projections (N, P W), bias (P, C) and angles (N, H, K/2), the last two may be undefined.
/// By-product: sums (N, H, 2) of the kernel.
class RotaryAttention : public Differentiable {
 public:
  RotaryAttention(const Segments& graphs, int64_t heads, int64_t parts, double scale, bool rotate_values)
      : graphs_(graphs), heads_(heads), parts_(parts), scale_(scale), rotate_values_(rotate_values) {}

  /// As the definition reads, and the authors' code: cosine and sine anew for each of q, k, v and the output.
  Tensors reference(const Tensors& in) const override {
    return expression(in, [&] { return rotary_table(in[2]); });
  }
  Tensors without_kernels(const Tensors& in) const override {
    const RotaryTable once = in[2].defined() ? rotary_table(in[2]) : RotaryTable();
    return expression(in, [&]() -> const RotaryTable& { return once; });
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    const Operands x(in, parts_);
    const Tensor y = at::empty({x.rows, x.width}, in[0].options());
    const Tensor sums = at::empty({x.rows, heads_, 2}, in[0].options());
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto a = arguments<T>(x);
      const auto& kernel = kernels::best<kernels::Attention<T>>();
      run<T>(a, 0, attention_workers(graphs_, heads_, false),
             [&](int64_t, T* scratch, int64_t first, int64_t last) {
               kernel.forward(a, {y.mutable_data_ptr<T>(), x.width, a.key_width}, sums.mutable_data_ptr<T>(),
                              scratch, first, last);
             });
    });
    count_operations(2 * attention_products(graphs_, heads_, x.width / heads_));
    return {y, sums};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Operands x(in, parts_);
    const Tensor y = out[0].contiguous(), sums = out[1].contiguous(), gy = gys[0].contiguous();
    const int64_t workers = attention_workers(graphs_, heads_, false);
    const bool rows = needed[0] || needed[1];
    // Of the scores by queries, and by keys where they are projected or turned by angles that learn; of the values both.
    const int derivatives = 3 * rows + (needed[2] || (rows && parts_ == 3));
    count_operations(derivatives * attention_products(graphs_, heads_, x.width / heads_));
    const Tensor gx = rows ? at::empty(x.projections.sizes(), in[0].options()) : Tensor();
    const Tensor totals = needed[1] ? at::zeros({workers, parts_, x.width}, in[0].options()) : Tensor();
    const Tensor gangles = needed[2] ? at::empty(x.angles.sizes(), in[0].options()) : Tensor();
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto a = arguments<T>(x);
      const auto& kernel = kernels::best<kernels::Attention<T>>();
      const int64_t stride = parts_ * x.width;
      run<T>(a, 1, workers, [&](int64_t w, T* scratch, int64_t first, int64_t last) {
        kernels::AttentionGradients<T> to;
        T* g = mutable_numbers<T>(gx);
        T* biases = needed[1] ? totals.mutable_data_ptr<T>() + w * stride : nullptr;
        if (rows) {
          to.q = {g, stride, a.key_width};
          to.v = {g + x.width, stride, a.key_width};
          to.k = parts_ == 3 ? kernels::HeadRows<T>{g + 2 * x.width, stride, a.key_width}
                             : kernels::HeadRows<T>{};
        }
        if (biases) {
          to.q_bias = biases;
          to.v_bias = biases + x.width;
          to.k_bias = parts_ == 3 ? biases + 2 * x.width : nullptr;
        }
        to.angles = mutable_numbers<T>(gangles);
        kernel.backward(a, {numbers<T>(y), x.width, a.key_width}, numbers<T>(sums),
                        {numbers<T>(gy), x.width, a.key_width}, to, scratch, first, last);
      });
    });
    Tensors g{gx, Tensor(), gangles};
    if (needed[1]) {
      const int64_t channels = in[1].size(1);
      g[1] = totals.sum(0).view({parts_, x.width / channels, channels}).sum(1);
    }
    return g;
  }

 private:
  template <class Table>
  Tensors expression(const Tensors& in, const Table& table) const {
    const Tensor &projections = in[0], &bias = in[1], &angles = in[2];
    const int64_t n = projections.size(0), width = projections.size(1) / parts_, head = width / heads_;
    Tensor biased = projections;
    if (bias.defined()) {
      const int64_t channels = bias.size(1);
      biased = projections.reshape({n, parts_, width / channels, channels}) + bias.unsqueeze(1);
    }
    biased = biased.reshape({n, parts_, heads_, head});
    const auto part = [&](int64_t p) { return biased.select(1, p); };
    Tensor q = part(0), v = part(1), k = parts_ == 3 ? part(2) : Tensor();
    if (angles.defined()) {
      q = rotate_pairs(q, table());
      k = rotate_pairs(k, table()).to(q.scalar_type());
      v = rotate_values_ ? rotate_pairs(v, table()) : v;
    }
    Tensor y = ragged_attention(q, k, v, graphs_, scale_);
    if (rotate_values_) {
      y = rotate_pairs(y, table(), /*inverse=*/true);
    }
    return {y.reshape({n, width})};
  }

  struct Operands {
    Operands(const Tensors& in, int64_t parts)
        : projections(in[0].contiguous()),
          bias(contiguous_of(in[1])),
          angles(contiguous_of(in[2])),
          rows(projections.size(0)),
          width(projections.size(1) / parts) {}
    Tensor projections, bias, angles;
    int64_t rows, width;
  };

  template <class T>
  kernels::AttentionInput<T> arguments(const Operands& x) const {
    kernels::AttentionInput<T> a;
    a.offsets = graphs_.offsets.data();
    a.graphs = graphs_.count();
    a.heads = heads_;
    a.key_width = a.value_width = x.width / heads_;
    a.scale = static_cast<T>(scale_);
    const T* data = numbers<T>(x.projections);
    const int64_t row = parts_ * x.width;
    a.q = {data, row, a.key_width};
    a.v = {data + x.width, row, a.key_width};
    if (parts_ == 3) {
      a.k = {data + 2 * x.width, row, a.key_width};
    }
    if (x.bias.defined()) {
      a.channels = x.bias.size(1);
      a.q_bias = numbers<T>(x.bias);
      a.v_bias = a.q_bias + a.channels;
      a.k_bias = parts_ == 3 ? a.v_bias + a.channels : nullptr;
    }
    a.angles = numbers<T>(x.angles);
    a.rotate_values = rotate_values_;
    return a;
  }

  template <class T, class F>
  void run(const kernels::AttentionInput<T>& a, int derivative, int64_t workers, const F& work) const {
    const int64_t size = kernels::best<kernels::Attention<T>>().scratch(
        a, std::max<int64_t>(graphs_.longest(), 1), derivative);
    for_attention_units(graphs_, heads_, workers, false, {}, [&](int64_t w, int64_t first, int64_t last) {
      std::vector<T> scratch(static_cast<size_t>(size));
      work(w, scratch.data(), first, last);
    });
  }

  Segments graphs_;
  int64_t heads_, parts_;
  double scale_;
  bool rotate_values_;
};

}  // namespace

Tensor rotary_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                        const Segments& graphs, int64_t heads, double scale, bool rotate_values) {
  const char* where = "rotary_attention";
  const bool rotated = angles.defined();
  require(rotated || !rotate_values, where, ": rotated values need angles");
  require(projections.dim() == 2 && projections.size(0) == graphs.rows(), where, ": projections must be (",
          graphs.rows(), ", P W), got ", projections.sizes());
  const int64_t n = projections.size(0);
  const int64_t width = bias.defined() ? projections.size(1) / bias.size(0)
                                       : (rotated ? 2 * heads * angles.size(2) : projections.size(1) / 3);
  const int64_t parts = width > 0 ? projections.size(1) / width : 0;
  require(
      parts * width == projections.size(1) && (parts == 3 || (parts == 2 && rotated)) && width % heads == 0,
      where, ": projections must be 2 (constant keys, with angles) or 3 times H K wide, got ",
      projections.sizes(), " for ", heads, " heads");
  const int64_t head = width / heads;
  require(!rotated || (angles.dim() == 3 && angles.size(0) == n && angles.size(1) == heads &&
                       2 * angles.size(2) == head),
          where, ": angles must be (", n, ", ", heads, ", ", head / 2, "), got ",
          rotated ? angles.sizes() : at::IntArrayRef{});
  require(!bias.defined() || (bias.dim() == 2 && width % bias.size(1) == 0), where, ": bias must be (", parts,
          ", C) with C dividing ", width, ", got ", bias.defined() ? bias.sizes() : at::IntArrayRef{});
  return call(std::make_shared<RotaryAttention>(graphs, heads, parts, scale, rotate_values),
              {projections, bias, angles})[0];
}

}  // namespace weyl
