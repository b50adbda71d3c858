#include "weyl/ops/attention/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention_forms.h"
#include "weyl/ops/attention/attention_units.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace {

void require_heads(const char* where, const char* name, const Tensor& x, const Tensor& q, int64_t width,
                   bool shared) {
  const bool parts = q.dim() == 4;
  require(x.dim() == q.dim() && x.size(0) == q.size(0) && (!parts || x.size(1) == q.size(1)) &&
              (x.size(-2) == q.size(-2) || (shared && !parts && x.size(1) == 1)) &&
              (width < 0 || x.size(-1) == width),
          where, ": ", name, " must fit q ", q.sizes(), ", got ", x.sizes());
  require(x.scalar_type() == q.scalar_type(), where, ": ", name, " must have q's dtype ", q.scalar_type(),
          ", got ", x.scalar_type());
}

/// (N, P, H, K) -> (N, H, P K), and back.
Tensor in_one(const Tensor& x) {
  return x.dim() == 3 ? x : x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}
Tensor in_parts(const Tensor& y, const Tensor& like) {
  return like.dim() == 3 ? y : y.reshape({y.size(0), y.size(1), like.size(1), like.size(3)}).transpose(1, 2);
}

/// Inputs q, k, v, bias (or undefined). By-products: sums (N, H, 2) of the kernel, or those of a fused one.
class RaggedAttention : public Differentiable {
 public:
  RaggedAttention(const Segments& graphs, double scale) : graphs_(graphs), scale_(scale) {}

  Tensors reference(const Tensors& in) const override {
    const auto form =
        UseReferences::attention() == PlainAttention::padded ? &attention_padded : &attention_by_pairs;
    return {in_parts(form(in_one(in[0]), in_one(in[1]), in_one(in[2]), graphs_, scale_, in[3]), in[2])};
  }
  Tensors without_kernels(const Tensors& in) const override {
    return {in_parts(attention_padded(in_one(in[0]), in_one(in[1]), in_one(in[2]), graphs_, scale_, in[3]),
                     in[2])};
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in) || is_fused(in); }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    if (is_fused(in)) {
      Tensors found = fused_attention(in_one(in[0]), in_one(in[1]), in_one(in[2]), graphs_, scale_);
      found[0] = in_parts(found[0], in[2]);
      return found;
    }
    const Operands x(in);
    std::vector<int64_t> shape = in[0].sizes().vec();
    shape.back() = in[2].size(-1);
    const Tensor y = at::empty(shape, in[0].options());
    const Tensor sums = at::empty({y.size(0), x.heads, 2}, in[0].options());
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto a = arguments<T>(x);
      const auto& kernel = kernels::best<kernels::Attention<T>>();
      run<T>(a, 0, false, [&](T* scratch, int64_t first, int64_t last) {
        kernel.forward(a, HeadTensor(y, x.heads).write<T>(), mutable_numbers<T>(sums), scratch, first, last);
      });
    });
    count_operations(attention_products(graphs_, x.heads, x.key_width) +
                     attention_products(graphs_, x.heads, x.value_width));
    return {y, sums};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gy,
                   const std::vector<bool>& needed) const override {
    if (is_fused(in)) {
      Tensors results = out;
      results[0] = in_one(out[0]);
      Tensors g = fused_attention_gradients(in_one(in[0]), in_one(in[1]), in_one(in[2]), graphs_, scale_,
                                            results, in_one(gy[0]));
      for (size_t i = 0; i < 3; ++i) {
        g[i] = needed[i] ? in_parts(g[i], in[i]) : Tensor();
      }
      g.emplace_back();
      return g;
    }
    const Operands x(in);
    const int weights = needed[0] || needed[1] || needed[3];
    count_operations((needed[0] + needed[1]) * attention_products(graphs_, x.heads, x.key_width) +
                     (weights + needed[2]) * attention_products(graphs_, x.heads, x.value_width));
    const bool apart = sums_apart(x);
    const Tensors g = gradients_for(in, x.heads, needed, apart);
    const HeadTensor y(out[0], x.heads), gys(gy[0], x.heads);
    const Tensor sums = out[1].contiguous();
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto a = arguments<T>(x);
      const auto to = wanted<T>(g, x.heads);
      const auto& kernel = kernels::best<kernels::Attention<T>>();
      run<T>(a, 1, x.shared() && !apart, [&](T* scratch, int64_t first, int64_t last) {
        kernel.backward(a, y.read<T>(), numbers<T>(sums), gys.read<T>(), to, scratch, first, last);
      });
    });
    return summed(g, in);
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gy, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    const Operands x(in);
    const bool apart = sums_apart(x);
    Tensors g = gradients_for(in, x.heads, needed, apart);
    const Tensor ggy = needed[4] ? at::empty(gy[0].sizes(), gy[0].options()) : Tensor();
    const HeadTensor gys(gy[0], x.heads), dq(gg[0], x.heads), dk(gg[1], x.heads), dv(gg[2], x.heads),
        ggys(ggy, x.heads);
    const Tensor dpairs = contiguous_of(gg[3]);
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto a = arguments<T>(x);
      const auto to = wanted<T>(g, x.heads);
      const kernels::AttentionTangents<T> d{dq.read<T>(), dk.read<T>(), dv.read<T>(), numbers<T>(dpairs)};
      const auto& kernel = kernels::best<kernels::AttentionSecond<T>>();
      run<T>(a, 2, x.shared() && !apart, [&](T* scratch, int64_t first, int64_t last) {
        kernel.second(a, gys.read<T>(), d, to, ggys.write<T>(), scratch, first, last);
      });
    });
    g = summed(g, in);
    g.push_back(ggy);
    return g;
  }

 private:
  bool is_fused(const Tensors& in) const {
    return fused_attention_takes(in[0], in[1], in[2], in[3], graphs_);
  }

  struct Operands {
    explicit Operands(const Tensors& in)
        : heads(in[0].size(-2)),
          parts(in[0].dim() == 4 ? in[0].size(1) : 1),
          key_width(parts * in[0].size(-1)),
          value_width(parts * in[2].size(-1)),
          q(in[0], heads),
          k(in[1], heads),
          v(in[2], heads),
          pairs(contiguous_of(in[3])) {}
    bool shared() const { return heads > 1 && (k.tensor.size(-2) == 1 || v.tensor.size(-2) == 1); }
    int64_t heads, parts, key_width, value_width;
    HeadTensor q, k, v;
    Tensor pairs;
  };

  template <class T>
  kernels::AttentionInput<T> arguments(const Operands& x) const {
    kernels::AttentionInput<T> a;
    a.offsets = graphs_.offsets.data();
    a.graphs = graphs_.count();
    a.heads = x.heads;
    a.key_width = x.key_width;
    a.value_width = x.value_width;
    a.scale = static_cast<T>(scale_);
    a.q = x.q.read<T>();
    a.k = x.k.read<T>();
    a.v = x.v.read<T>();
    a.pairs = numbers<T>(x.pairs);
    return a;
  }

  /// Heads that share keys add to one gradient, which keeps those of a graph together. Where that leaves workers without
  /// one, each head has a gradient of its own, and these are summed.
  bool sums_apart(const Operands& x) const {
    return x.shared() && attention_workers(graphs_, x.heads, false) > graphs_.count();
  }

  static Tensors gradients_for(const Tensors& in, int64_t heads, const std::vector<bool>& needed,
                               bool apart) {
    Tensors g(4);
    for (size_t i = 0; i < 4; ++i) {
      if (!needed[i]) {
        continue;
      }
      std::vector<int64_t> shape = in[i].sizes().vec();
      const bool shared = i < 3 && heads > 1 && in[i].size(-2) == 1;
      if (shared && apart) {
        shape[1] = heads;
      }
      g[i] = shared && !apart ? at::zeros(shape, in[i].options()) : at::empty(shape, in[i].options());
    }
    return g;
  }
  static Tensors summed(Tensors g, const Tensors& in) {
    for (size_t i = 0; i < 3; ++i) {
      if (g[i].defined() && g[i].size(-2) != in[i].size(-2)) {
        g[i] = g[i].sum(-2, /*keepdim=*/true);
      }
    }
    return g;
  }

  template <class T>
  static kernels::AttentionGradients<T> wanted(const Tensors& g, int64_t heads) {
    kernels::AttentionGradients<T> to;
    to.q = HeadTensor(g[0], heads).write<T>();
    to.k = HeadTensor(g[1], heads).write<T>();
    to.v = HeadTensor(g[2], heads).write<T>();
    to.pairs = mutable_numbers<T>(g[3]);
    return to;
  }

  template <class T, class F>
  void run(const kernels::AttentionInput<T>& a, int derivative, bool whole, const F& work) const {
    const int64_t size = kernels::best<kernels::Attention<T>>().scratch(
        a, std::max<int64_t>(graphs_.longest(), 1), derivative);
    for_attention_units(graphs_, a.heads, attention_workers(graphs_, a.heads, whole), whole, {},
                        [&](int64_t, int64_t first, int64_t last) {
                          std::vector<T> scratch(static_cast<size_t>(size));
                          work(scratch.data(), first, last);
                        });
  }

  Segments graphs_;
  double scale_;
};

}  // namespace

Tensor ragged_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias) {
  const char* where = "ragged_attention";
  const auto any = [&](const auto& holds) {
    return holds(q) || holds(k) || holds(v) || (bias.defined() && holds(bias));
  };
  if (any([&](const Tensor& x) { return x.scalar_type() != q.scalar_type(); }) &&
      any([](const Tensor& x) { return at::isReducedFloatingType(x.scalar_type()); })) {
    return ragged_attention(widened(q), widened(k), widened(v), graphs, scale, widened(bias));
  }
  // Kernels have no narrower dtype than float32, and the torch expression holds a table of all pairs.
  if (at::isReducedFloatingType(q.scalar_type()) && q.is_cpu() && !WithoutKernels::active() &&
      !UseReferences::active()) {
    return ragged_attention(widened(q), widened(k), widened(v), graphs, scale, widened(bias))
        .to(q.scalar_type());
  }
  require((q.dim() == 3 || q.dim() == 4) && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(),
          ", H, K), got ", q.sizes());
  require_heads(where, "k", k, q, q.size(-1), true);
  require_heads(where, "v", v, q, -1, true);
  if (bias.defined()) {
    require(bias.dim() == 2 && bias.size(0) == graphs.pairs() && bias.size(1) == q.size(-2), where,
            ": bias must be (", graphs.pairs(), ", ", q.size(-2), "), got ", bias.sizes());
    require(bias.scalar_type() == q.scalar_type(), where, ": bias must have q's dtype ", q.scalar_type(),
            ", got ", bias.scalar_type());
  }
  return call(std::make_shared<RaggedAttention>(graphs, scale), {q, k, v, bias})[0];
}

Tensor ragged_attention_with_dropout(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Segments& graphs, double scale, double dropout) {
  const char* where = "ragged_attention_with_dropout";
  require(q.dim() == 3 && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(), ", H, K), got ",
          q.sizes());
  require(k.sizes() == q.sizes(), where, ": k must be ", q.sizes(), ", got ", k.sizes());
  require(v.dim() == 3 && v.size(0) == q.size(0) && v.size(1) == q.size(1), where, ": v must be (", q.size(0),
          ", ", q.size(1), ", V), got ", v.sizes());
  require(dropout >= 0 && dropout < 1, where, ": dropout must be in [0, 1), got ", dropout);
  const bool narrow =
      at::isReducedFloatingType(q.scalar_type()) || at::isReducedFloatingType(v.scalar_type());
  return narrow ? attention_dropped(widened(q), widened(k), widened(v), graphs, scale, dropout)
                : attention_dropped(q, k, v, graphs, scale, dropout);
}

namespace {

/// The two halves of the heads, as views; a shared head belongs to both. The derivative of a split is one
/// concatenation, where that of two slices would be two tensors of zeros and a sum.
std::pair<Tensor, Tensor> halves(const Tensor& x) {
  if (x.size(-2) == 1) {
    return {x, x};
  }
  const auto both = x.split(x.size(-2) / 2, -2);
  return {both[0], both[1]};
}

}  // namespace

Tensor hierarchical_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                              const Segments& objects, double scale) {
  const char* where = "hierarchical_attention";
  require((q.dim() == 3 || q.dim() == 4) && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(),
          ", H, K), got ", q.sizes());
  const int64_t heads = q.size(-2);
  require(heads > 0 && heads % 2 == 0, where, ": the number of heads must be even, got ", heads);
  require(objects.rows() == graphs.rows(), where, ": objects must hold all ", graphs.rows(), " nodes, got ",
          objects.rows());
  for (const auto& [name, x] : {std::pair("k", &k), {"v", &v}}) {
    require(x->dim() == q.dim() && (x->size(-2) == heads || x->size(-2) == 1), where, ": ", name,
            " must have as many heads as q ", q.sizes(), " or one, got ", x->sizes());
  }
  const auto [q_inside, q_global] = halves(q);
  const auto [k_inside, k_global] = halves(k);
  const auto [v_inside, v_global] = halves(v);
  // An input without nodes may be without objects.
  const Segments& inside = objects.count() > 0 ? objects : graphs;
  return at::cat({ragged_attention(q_inside, k_inside, v_inside, inside, scale),
                  ragged_attention(q_global, k_global, v_global, graphs, scale)},
                 -2);
}

}  // namespace weyl
