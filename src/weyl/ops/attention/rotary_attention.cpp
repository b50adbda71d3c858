#include "weyl/ops/attention/rotary_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/attention/linear_attention.h"
#include "weyl/kernels/attention/rotary.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/attention_units.h"
#include "weyl/ops/attention/linear_attention.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
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

namespace {

/// Inputs projections (N, P W), bias (P, C) and angles (N, H, K/2), the last two may be undefined.
/// By-product of a softmax: sums (N, H, 2) of the kernel.
class RotaryAttention : public Differentiable {
 public:
  /// What lies between the rotations: a softmax, or linear attention with a norm, which needs no gradient.
  struct Law {
    bool linear = false;
    double scale = 1;
    Tensor norm;
  };

  RotaryAttention(const Segments& graphs, int64_t heads, int64_t parts, Law law, bool rotate_values)
      : graphs_(graphs), heads_(heads), parts_(parts), law_(std::move(law)), rotate_values_(rotate_values) {}

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
    const Tensor sums = law_.linear ? Tensor() : at::empty({x.rows, heads_, 2}, in[0].options());
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t head = x.width / heads_;
      const kernels::HeadRows<T> to{y.mutable_data_ptr<T>(), x.width, head};
      run<T>(x, 0, workers(head),
             [&](const auto& kernel, const auto& a, int64_t, T* scratch, int64_t first, int64_t last) {
               if constexpr (is_linear<decltype(a)>) {
                 kernel.forward(a, to, scratch, first, last);
               } else {
                 kernel.forward(a, to, mutable_numbers<T>(sums), scratch, first, last);
               }
             });
    });
    count_operations(2 * products(x));
    return law_.linear ? Tensors{y} : Tensors{y, sums};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Operands x(in, parts_);
    const Tensor y = out[0].contiguous(), gy = gys[0].contiguous();
    const Tensor sums = law_.linear ? Tensor() : out[1].contiguous();
    const int64_t head = x.width / heads_, count = workers(head);
    const bool rows = needed[0] || needed[1];
    // Of the scores by queries, and by keys where they are projected or turned by angles that learn; of the values both.
    const int derivatives = 3 * rows + (needed[2] || (rows && parts_ == 3));
    count_operations(derivatives * products(x));
    const Tensor gx = rows ? at::empty(x.projections.sizes(), in[0].options()) : Tensor();
    const Tensor totals = needed[1] ? at::zeros({count, parts_, x.width}, in[0].options()) : Tensor();
    const Tensor gangles = needed[2] ? at::empty(x.angles.sizes(), in[0].options()) : Tensor();
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t stride = parts_ * x.width;
      const kernels::HeadRows<const T> from{numbers<T>(y), x.width, head},
          gout{numbers<T>(gy), x.width, head};
      run<T>(x, 1, count,
             [&](const auto& kernel, const auto& a, int64_t w, T* scratch, int64_t first, int64_t last) {
               kernels::AttentionGradients<T> to;
               T* g = mutable_numbers<T>(gx);
               T* biases = needed[1] ? totals.mutable_data_ptr<T>() + w * stride : nullptr;
               if (rows) {
                 to.q = {g, stride, head};
                 to.v = {g + x.width, stride, head};
                 to.k = parts_ == 3 ? kernels::HeadRows<T>{g + 2 * x.width, stride, head}
                                    : kernels::HeadRows<T>{};
               }
               if (biases) {
                 to.q_bias = biases;
                 to.v_bias = biases + x.width;
                 to.k_bias = parts_ == 3 ? biases + 2 * x.width : nullptr;
               }
               to.angles = mutable_numbers<T>(gangles);
               if constexpr (is_linear<decltype(a)>) {
                 kernel.backward(a, from, gout, to, scratch, first, last);
               } else {
                 kernel.backward(a, from, numbers<T>(sums), gout, to, scratch, first, last);
               }
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
    Tensor y = law_.linear ? linear_attention(q, k, v, graphs_, law_.norm)
                           : ragged_attention(q, k, v, graphs_, law_.scale);
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
    a.scale = static_cast<T>(law_.scale);
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

  template <class Input>
  static constexpr bool is_linear = requires(Input in) { in.rows; };

  UnitCost cost(int64_t head) const { return law_.linear ? linear_attention_cost(head, head) : UnitCost{}; }
  int64_t workers(int64_t head) const { return attention_workers(graphs_, heads_, false, cost(head)); }
  /// Floating-point operations of one of both products.
  double products(const Operands& x) const {
    const int64_t head = x.width / heads_;
    return law_.linear ? linear_attention_products(graphs_, heads_, head, head)
                       : attention_products(graphs_, heads_, head);
  }

  /// work(kernel, its input, worker, scratch, first, last)
  template <class T, class F>
  void run(const Operands& x, int derivative, int64_t workers, const F& work) const {
    const auto each = [&](const auto& kernel, const auto& in, int64_t size) {
      for_attention_units(graphs_, heads_, workers, false, cost(x.width / heads_),
                          [&](int64_t w, int64_t first, int64_t last) {
                            std::vector<T> scratch(static_cast<size_t>(size));
                            work(kernel, in, w, scratch.data(), first, last);
                          });
    };
    if (law_.linear) {
      const auto& kernel = kernels::best<kernels::LinearAttention<T>>();
      const Tensor norm =
          law_.norm.defined() ? law_.norm.to(x.projections.scalar_type()).contiguous() : law_.norm;
      const kernels::LinearAttentionInput<T> in{arguments<T>(x), numbers<T>(norm)};
      each(kernel, in, kernel.scratch(in, derivative));
    } else {
      const auto& kernel = kernels::best<kernels::Attention<T>>();
      const kernels::AttentionInput<T> in = arguments<T>(x);
      each(kernel, in, kernel.scratch(in, std::max<int64_t>(graphs_.longest(), 1), derivative));
    }
  }

  Segments graphs_;
  int64_t heads_, parts_;
  Law law_;
  bool rotate_values_;
};

Tensor attend(const char* where, const Tensor& projections, const Tensor& bias, const Tensor& angles,
              const Segments& graphs, int64_t heads, RotaryAttention::Law law, bool rotate_values) {
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
  return call(std::make_shared<RotaryAttention>(graphs, heads, parts, std::move(law), rotate_values),
              {projections, bias, angles})[0];
}

}  // namespace

Tensor rotary_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                        const Segments& graphs, int64_t heads, double scale, bool rotate_values) {
  return attend("rotary_attention", projections, bias, angles, graphs, heads, {.scale = scale},
                rotate_values);
}

Tensor rotary_linear_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                               const Segments& graphs, int64_t heads, const Tensor& norm,
                               bool rotate_values) {
  const char* where = "rotary_linear_attention";
  require(!norm.defined() || (norm.dim() == 1 && norm.size(0) == graphs.count() && !norm.requires_grad()),
          where, ": norm must be (", graphs.count(), ") without a gradient, got ",
          norm.defined() ? norm.sizes() : at::IntArrayRef{});
  return attend(where, projections, bias, angles, graphs, heads, {.linear = true, .norm = norm},
                rotate_values);
}

}  // namespace weyl
