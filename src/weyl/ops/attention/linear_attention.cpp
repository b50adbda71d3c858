#include "weyl/ops/attention/linear_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/attention/linear_attention.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention_forms.h"
#include "weyl/ops/attention/attention_units.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

void require_like(const char* name, const Tensor& x, const Tensor& q, int64_t width) {
  require(
      x.dim() == 3 && x.size(0) == q.size(0) && x.size(1) == q.size(1) && (width < 0 || x.size(2) == width),
      "linear_attention: ", name, " must fit q ", q.sizes(), ", got ", x.sizes());
  require(x.scalar_type() == q.scalar_type(), "linear_attention: ", name, " must have q's dtype ",
          q.scalar_type(), ", got ", x.scalar_type());
}

/// Graphs cut into pieces of a few rows: a batch of them is padded to the longest piece, not to the longest
/// graph.
struct Pieces {
  Segments rows;       // of each piece
  Segments of_graphs;  // the pieces of each graph
};

int64_t count_of(const Segments& graphs, int64_t length) {
  int64_t pieces = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    pieces += (graphs.size(s) + length - 1) / length;
  }
  return pieces;
}

/// The length longest / 2^i whose pieces have the fewest numbers: a piece has `length` rows of K + V numbers
/// and a (K, V) matrix. Graphs of one size stay whole.
int64_t best_length(const Segments& graphs, int64_t K, int64_t V) {
  int64_t best = 1, fewest = count_of(graphs, 1) * (K + V + K * V);
  for (int64_t length = std::max<int64_t>(graphs.longest(), 1); length > 1; length = (length + 1) / 2) {
    const int64_t numbers = count_of(graphs, length) * (length * (K + V) + K * V);
    if (numbers < fewest) {
      best = length;
      fewest = numbers;
    }
  }
  return best;
}

Pieces cut(const Segments& graphs, int64_t length, at::Device device) {
  std::vector<int64_t> rows, pieces;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const size_t before = rows.size();
    for (int64_t left = graphs.size(s); left > 0; left -= length) {
      rows.push_back(std::min(left, length));
    }
    pieces.push_back(static_cast<int64_t>(rows.size() - before));
  }
  return {Segments::of_sizes(rows, device), Segments::of_sizes(pieces, device)};
}

/// v_i divided by the norm of its graph.
Tensor over_norm(const Tensor& v, const Tensor& norm, const Segments& graphs) {
  return norm.defined() ? v / norm.to(v.scalar_type()).index_select(0, graphs.index).view({-1, 1, 1}) : v;
}

/// As batched matrix products over pieces of graphs, on any device.
Tensor in_pieces(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs) {
  const Pieces pieces = cut(graphs, best_length(graphs, k.size(2), v.size(2)), q.device());
  const Padding padding(pieces.rows);
  Tensor keys = padding.pad(k);
  if (!padding.full) {
    keys = keys.masked_fill(padding.empty_keys.transpose(-1, -2), 0);
  }
  Tensor matrices = at::matmul(keys.transpose(-1, -2), padding.pad(v));  // (pieces, H, K, V)
  if (pieces.of_graphs.longest() > 1) {
    matrices = segment_sum(matrices, pieces.of_graphs).index_select(0, pieces.of_graphs.index);
  }
  return padding.unpad(at::matmul(padding.pad(q), matrices));
}

/// Inputs q, k, v. The norm (B), which needs no gradient, may be undefined.
class LinearAttention : public Differentiable {
 public:
  LinearAttention(const Segments& graphs, Tensor norm) : graphs_(graphs), norm_(std::move(norm)) {}

  Tensors reference(const Tensors& in) const override {
    return {in_pieces(in[0], in[1], over_norm(in[2], norm_, graphs_), graphs_)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Operands x(in, norm_);
    const Tensor y = at::empty(in[2].sizes(), in[2].options());
    const HeadTensor to(y, x.heads);
    count_operations(2 * products(in));
    run(x, 0, [&]<class T>(const auto& kernel, const auto& a, T* scratch, int64_t first, int64_t last) {
      kernel.forward(a, to.write<T>(), scratch, first, last);
    });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Operands x(in, norm_);
    const Tensors g = gradients_for(in, needed);
    const Rows to(g, x.heads);
    const HeadTensor gy(gys[0], x.heads), y(out[0], x.heads);
    // The matrices' gradient serves keys and values; the matrices themselves are worked out again.
    count_operations((needed[0] + (needed[1] || needed[2]) + needed[1] + needed[2]) * products(in));
    run(x, 1, [&]<class T>(const auto& kernel, const auto& a, T* scratch, int64_t first, int64_t last) {
      kernel.backward(a, y.read<T>(), gy.read<T>(), to.write<T>(), scratch, first, last);
    });
    return g;
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    const Operands x(in, norm_);
    Tensors g = gradients_for(in, needed);
    const Tensor ggy = needed[3] ? at::empty(in[2].sizes(), in[2].options()) : Tensor();
    const Rows d(gg, x.heads), to(g, x.heads);
    const HeadTensor gy(gys[0], x.heads), ggys(ggy, x.heads);
    run(x, 2, [&]<class T>(const auto& kernel, const auto& a, T* scratch, int64_t first, int64_t last) {
      kernel.second(a, gy.read<T>(), d.read<T>(), to.write<T>(), ggys.write<T>(), scratch, first, last);
    });
    g.push_back(ggy);
    return g;
  }

 private:
  /// q, k and v, or numbers of theirs.
  struct Rows {
    Rows(const Tensors& x, int64_t heads) : q(x[0], heads), k(x[1], heads), v(x[2], heads) {}
    template <class T>
    kernels::AttentionTangents<T> read() const {
      return {q.read<T>(), k.read<T>(), v.read<T>()};
    }
    template <class T>
    kernels::AttentionGradients<T> write() const {
      return {q.write<T>(), k.write<T>(), v.write<T>()};
    }
    HeadTensor q, k, v;
  };
  struct Operands : Rows {
    Operands(const Tensors& in, const Tensor& norms)
        : Rows(in, in[0].size(1)),
          heads(in[0].size(1)),
          key_width(in[0].size(2)),
          value_width(in[2].size(2)),
          type(in[0].scalar_type()),
          norm(norms.defined() ? norms.to(type).contiguous() : norms) {}
    int64_t heads, key_width, value_width;
    at::ScalarType type;
    Tensor norm;
  };

  double products(const Tensors& in) const {
    return linear_attention_products(graphs_, in[0].size(1), in[0].size(2), in[2].size(2));
  }

  static Tensors gradients_for(const Tensors& in, const std::vector<bool>& needed) {
    Tensors g(3);
    for (size_t i = 0; i < 3; ++i) {
      g[i] = needed[i] ? at::empty(in[i].sizes(), in[i].options()) : Tensor();
    }
    return g;
  }

  template <class F>
  void run(const Operands& x, int derivative, const F& work) const {
    with_type(x.type, [&](auto zero) {
      using T = decltype(zero);
      kernels::LinearAttentionInput<T> a;
      a.rows.offsets = graphs_.offsets.data();
      a.rows.graphs = graphs_.count();
      a.rows.heads = x.heads;
      a.rows.key_width = x.key_width;
      a.rows.value_width = x.value_width;
      a.rows.q = x.q.template read<T>();
      a.rows.k = x.k.template read<T>();
      a.rows.v = x.v.template read<T>();
      a.norm = numbers<T>(x.norm);
      const auto& kernel = kernels::best<kernels::LinearAttention<T>>();
      const UnitCost cost = linear_attention_cost(x.key_width, x.value_width);
      const int64_t size = kernel.scratch(a, derivative);
      for_attention_units(graphs_, x.heads, attention_workers(graphs_, x.heads, false, cost), false, cost,
                          [&](int64_t, int64_t first, int64_t last) {
                            std::vector<T> scratch(static_cast<size_t>(size));
                            work.template operator()<T>(kernel, a, scratch.data(), first, last);
                          });
    });
  }

  Segments graphs_;
  Tensor norm_;
};

}  // namespace

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        const Tensor& norm) {
  require(q.dim() == 3 && q.size(0) == graphs.rows(), "linear_attention: q must be (", graphs.rows(),
          ", H, K), got ", q.sizes());
  require_like("k", k, q, q.size(2));
  require_like("v", v, q, -1);
  require(!norm.defined() || (norm.dim() == 1 && norm.size(0) == graphs.count()),
          "linear_attention: norm must be (", graphs.count(), "), got ",
          norm.defined() ? norm.sizes() : at::IntArrayRef{});
  if (norm.defined() && norm.requires_grad()) {
    return linear_attention(q, k, over_norm(v, norm, graphs), graphs);
  }
  return call(std::make_shared<LinearAttention>(graphs, norm), {q, k, v})[0];
}

}  // namespace weyl
