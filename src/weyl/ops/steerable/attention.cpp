#include "weyl/ops/steerable/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/real.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/steerable/attention.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/constants.h"

namespace weyl::steerable {
namespace {

Tensor index_of(const std::vector<int64_t>& v, const Tensor& like) {
  return constant(v, like.device());
}

/// (B, 2 F of all, N) real -> (B, H, N, F) complex.
Tensor of_heads(const Tensor& x, const Heads& heads) {
  const Tensor parts = x.unflatten(1, {2, -1}).index_select(2, index_of(heads.features, x));
  return at::complex(parts.select(1, 0), parts.select(1, 1))
      .unflatten(1, {heads.heads, heads.width})
      .transpose(2, 3);
}

/// The way back.
Tensor of_all(const Tensor& y, const Heads& heads) {
  std::vector<int64_t> place(heads.features.size());
  for (size_t k = 0; k < place.size(); ++k) {
    place[static_cast<size_t>(heads.features[k])] = static_cast<int64_t>(k);
  }
  const Tensor features = y.transpose(2, 3).flatten(1, 2).index_select(1, index_of(place, y));
  return at::cat({at::real(features), at::imag(features)}, 1);
}

/// (R, S of all, 2) real -> (R, H, F) complex: the weight of each number of a head.
Tensor weights_of(const Tensor& w, const Heads& heads) {
  std::vector<int64_t> index;
  for (int64_t h = 0; h < heads.heads; ++h) {
    for (const int64_t copy : heads.copy) {
      index.push_back(heads.copy_of_all[h * heads.multiplicity + copy]);
    }
  }
  return at::view_as_complex(w.contiguous())
      .index_select(1, index_of(index, w))
      .unflatten(1, {heads.heads, heads.width});
}

/// Where the channels of a component stand among the numbers of a head.
struct Channels {
  int64_t first, count;
  Tensor of(const Tensor& x) const { return x.narrow(-1, first, count); }
};
std::vector<Channels> channels_of(const Heads& heads) {
  std::vector<Channels> result;
  for (int64_t c = 0; c < heads.width; ++c) {
    if (c == 0 || heads.component[c] != heads.component[c - 1]) {
      result.push_back({c, 0});
    }
    ++result.back().count;
  }
  return result;
}

/// Positional vectors of pairs: P (N, N, M) complex, radius (N, N).
struct Pairs {
  Tensor vectors, radius;
};
Pairs pairs_of(const Positions& positions, const Tensor& like) {
  const int64_t n = positions.tokens();
  const auto [offsets, harmonics, radius] = positions.placed(like.scalar_type(), like.device());
  return {harmonics.index_select(0, offsets).view({n, n, -1}), radius.index_select(0, offsets).view({n, n})};
}

/// scores (B, H, N, N) by query and key.
Tensor weights_of_scores(const Tensor& scores, const Tensor& taking_part) {
  if (!taking_part.defined()) {
    return at::softmax(at::abs(scores), -1);
  }
  // Where no token takes part all are keys, of queries whose weights are zero: a softmax of nothing would be NaN.
  const Tensor keys = taking_part | taking_part.any(1, /*keepdim=*/true).logical_not();
  const Tensor sizes = at::abs(scores).masked_fill(keys.logical_not().unsqueeze(1).unsqueeze(1),
                                                   -std::numeric_limits<double>::infinity());
  return at::softmax(sizes, -1) * taking_part.unsqueeze(1).unsqueeze(3).to(sizes.scalar_type());
}

Tensor as_complex(const Tensor& x) {
  return at::complex(x, at::zeros_like(x));
}

}  // namespace

Heads::Heads(const SteerableType& type, int64_t count) : heads(count) {
  for (int64_t l = 0; l < type.irreps(); ++l) {
    const int64_t share = type.channels[l] / heads;
    for (int64_t m = 0; m < type.components(l); ++m) {
      for (int64_t c = 0; c < share; ++c) {
        component.push_back(components + m);
        copy.push_back(multiplicity + c);
      }
    }
    components += type.components(l);
    multiplicity += share;
    multiplicity_of_all += type.channels[l];
  }
  width = static_cast<int64_t>(component.size());
  for (int64_t h = 0; h < heads; ++h) {
    int64_t first = 0;
    for (int64_t l = 0; l < type.irreps(); ++l) {
      const int64_t share = type.channels[l] / heads;
      for (int64_t m = 0; m < type.components(l); ++m) {
        for (int64_t c = 0; c < share; ++c) {
          features.push_back(type.offset(l) + m * type.channels[l] + h * share + c);
        }
      }
      for (int64_t c = 0; c < share; ++c) {
        copy_of_all.push_back(first + h * share + c);
      }
      first += type.channels[l];
    }
  }
}

Tensor attention_of_pairs(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                          const Tensor& taking_part) {
  const Tensor q = of_heads(in[0], heads);
  Tensor k = of_heads(in[1], heads).unsqueeze(2), v = of_heads(in[2], heads).unsqueeze(2);  // (B, H, 1, N, F)
  const int64_t n = q.size(2);
  if (positions != nullptr) {
    const Pairs pairs = pairs_of(*positions, in[0]);
    const Tensor vectors = pairs.vectors.index_select(2, index_of(heads.component, q));  // (N, N, F)
    const auto placed = [&](const Tensor& x, const Tensor& w) {
      const Tensor of_pairs = weights_of(w, heads).index_select(0, pairs.radius.view({-1}));
      return x +
             (of_pairs.view({n, n, heads.heads, heads.width}) * vectors.unsqueeze(2)).permute({2, 0, 1, 3});
    };
    k = placed(k, in[3]);
    v = placed(v, in[4]);
  }
  const std::vector<int64_t> shape{q.size(0), heads.heads, n, n, heads.width};
  const Tensor scores = at::matmul(k.expand(shape), q.conj().unsqueeze(4)).squeeze(4) * scale;
  const Tensor weights = as_complex(weights_of_scores(scores, taking_part)).unsqueeze(3);
  return of_all(at::matmul(weights, v.expand(shape)).squeeze(3), heads);
}

Tensor attention_weights(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                         const Tensor& taking_part) {
  const Tensor q = of_heads(in[0], heads), k = of_heads(in[1], heads);
  const int64_t n = q.size(2), units = q.size(0) * heads.heads;
  Tensor scores = at::matmul(q.conj(), k.transpose(2, 3));
  if (positions != nullptr) {
    const Pairs pairs = pairs_of(*positions, in[0]);
    const Tensor w = weights_of(in[3], heads).transpose(0, 1);
    std::vector<Tensor> t;  // of each component (B, H, N, R): sum_c conj(q_c) w_c
    for (const Channels& m : channels_of(heads)) {
      t.push_back(at::matmul(m.of(q).conj(), m.of(w).transpose(1, 2)));
    }
    if (positions->radii() == 1) {
      // A product over components for each query i: (N, B H, M) (N, M, N).
      const Tensor of_queries = at::cat(t, 3).view({units, n, heads.components}).transpose(0, 1);
      scores = scores +
               at::matmul(of_queries, pairs.vectors.transpose(1, 2)).transpose(0, 1).reshape(scores.sizes());
    } else {
      const Tensor radius = pairs.radius.expand(scores.sizes());
      for (int64_t m = 0; m < heads.components; ++m) {
        scores = scores + at::gather(t[m], 3, radius) * pairs.vectors.select(2, m);
      }
    }
  }
  return weights_of_scores(scores * scale, taking_part);
}

Tensor attention_contracted(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                            const Tensor& taking_part) {
  const Tensor v = of_heads(in[2], heads);
  const Tensor weights = as_complex(attention_weights(in, heads, scale, positions, taking_part));
  if (positions == nullptr) {
    return of_all(at::matmul(weights, v), heads);
  }
  const int64_t batch = v.size(0), n = v.size(2), units = batch * heads.heads;
  const Pairs pairs = pairs_of(*positions, in[0]);
  const Tensor w = weights_of(in[4], heads).transpose(0, 1);
  std::vector<Tensor> sums;  // of each component (B, H, N, R): sum_j a_ij P_m
  if (positions->radii() == 1) {
    sums = at::matmul(weights.view({units, n, n}).transpose(0, 1), pairs.vectors)
               .transpose(0, 1)
               .reshape({batch, heads.heads, n, heads.components})
               .split(1, 3);
  } else {
    const Tensor radius = pairs.radius.expand(weights.sizes());
    const Tensor none = at::zeros({batch, heads.heads, n, positions->radii()}, weights.options());
    for (int64_t m = 0; m < heads.components; ++m) {
      sums.push_back(at::scatter_add(none, 3, radius, weights * pairs.vectors.select(2, m)));
    }
  }
  std::vector<Tensor> placed;
  const std::vector<Channels> channels = channels_of(heads);
  for (int64_t m = 0; m < heads.components; ++m) {
    placed.push_back(at::matmul(sums[m], channels[m].of(w)));
  }
  return of_all(at::matmul(weights, v) + at::cat(placed, 3), heads);
}

namespace {

constexpr double pair_nanoseconds = 0.5;  // of two tokens and a complex number: estimated, to be measured

/// Inputs q, k, v (B, 2 F, N), key weights, value weights (R, S, 2) or undefined. By-product: logsum (B, H,
/// N).
class SteerableAttentionOp : public Differentiable {
 public:
  SteerableAttentionOp(const SteerableType& type, int64_t heads, double scale,
                       std::shared_ptr<const Positions> positions, const Tensor& taking_part)
      : heads_(type, heads), scale_(scale), positions_(std::move(positions)) {
    if (taking_part.defined()) {
      taking_part_ = taking_part.contiguous();
    }
  }

  Tensors reference(const Tensors& in) const override {
    return {attention_of_pairs(in, heads_, scale_, positions_.get(), taking_part_)};
  }
  Tensors without_kernels(const Tensors& in) const override {
    return {attention_contracted(in, heads_, scale_, positions_.get(), taking_part_)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& inputs) const override {
    const Tensors in = contiguous(inputs);
    const Tensor y = at::empty(in[0].sizes(), in[0].options());
    const Tensor logsum = at::empty({in[0].size(0), heads_.heads, in[0].size(2)}, in[0].options());
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const Operands<T> x(in, *this);
      const auto& kernel = kernels::best<kernels::SteerableAttention<T>>();
      run(x.input, [&](T* scratch, int64_t first, int64_t last) {
        kernel.forward(x.input, mutable_numbers<T>(y), mutable_numbers<T>(logsum), scratch, first, last);
      });
    });
    const Products products = products_of(in);
    count_operations(products.scores + products.values + products.positions_of_keys +
                     products.positions_of_values + 2 * products.weighted_positions);
    return {y, logsum};
  }

  Tensors backward(const Tensors& inputs, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensors in = contiguous(inputs);
    const Tensor y = out[0].contiguous(), logsum = out[1].contiguous(), gy = gys[0].contiguous();
    // Positional vectors are constants, so that sums with them have one derivative, by scores or weights.
    const Products products = products_of(in);
    const int scores = needed[0] || needed[1] || needed[3];
    count_operations((needed[0] + needed[1]) * products.scores + (scores + needed[2]) * products.values +
                     (needed[0] || needed[3] ? products.positions_of_keys : 0) +
                     (scores != 0 || needed[4] ? products.positions_of_values : 0) +
                     (needed[0] + needed[3] + scores + needed[4]) * products.weighted_positions);
    Tensors g(5);
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const Operands<T> x(in, *this);
      const auto parts_like = [&](const Tensor& like) {
        std::vector<int64_t> shape = like.sizes().vec();
        shape.insert(shape.begin(), x.input.splits);
        return at::empty(shape, like.options());
      };
      g[0] = at::empty(in[0].sizes(), in[0].options());
      g[1] = parts_like(in[1]);
      g[2] = parts_like(in[2]);
      for (size_t i = 3; i < 5 && positions_; ++i) {
        g[i] = at::empty({x.input.splits * x.input.batch, in[i].size(0), in[i].size(1), 2}, in[i].options());
      }
      const kernels::SteerableAttentionGradients<T> to{mutable_numbers<T>(g[0]), mutable_numbers<T>(g[1]),
                                                       mutable_numbers<T>(g[2]), mutable_numbers<T>(g[3]),
                                                       mutable_numbers<T>(g[4])};
      const auto& kernel = kernels::best<kernels::SteerableAttentionBackward<T>>();
      run(x.input, [&](T* scratch, int64_t first, int64_t last) {
        kernel.backward(x.input, numbers<T>(y), numbers<T>(logsum), numbers<T>(gy), to, scratch, first, last);
      });
    });
    for (size_t i = 0; i < 5; ++i) {
      if (!needed[i]) {
        g[i] = Tensor();
      } else if (i > 0) {
        g[i] = g[i].size(0) == 1 ? g[i][0] : g[i].sum(0);
      }
    }
    return g;
  }

 private:
  /// Floating-point operations of each product, a multiply-add of real numbers counting two, one of complex numbers eight.
  /// Weights of values are real. Positional vectors P are contracted: q . (w P) = (q . w) P and sum (a P) w = (sum a P) w.
  struct Products {
    double scores, values;  // of pairs of tokens, over the numbers of heads
    double positions_of_keys,
        positions_of_values;    // likewise, over their components: of P with q . w, and of a with P
    double weighted_positions;  // of tokens: q . w, and as many of sums and w
  };
  Products products_of(const Tensors& in) const {
    const double tokens = static_cast<double>(in[0].size(2)),
                 all = static_cast<double>(in[0].size(0)) * tokens,
                 width = static_cast<double>(in[0].size(1)) / 2, pairs = all * tokens;
    const double of_positions =
        positions_ ? pairs * static_cast<double>(heads_.heads * positions_->components()) : 0;
    return {8 * pairs * width, 4 * pairs * width, 8 * of_positions, 4 * of_positions,
            positions_ ? 8 * all * width * static_cast<double>(positions_->radii()) : 0};
  }

  static Tensors contiguous(const Tensors& in) {
    Tensors result;
    for (const Tensor& x : in) {
      result.push_back(contiguous_of(x));
    }
    return result;
  }

  template <class T>
  struct Operands {
    Operands(const Tensors& in, const SteerableAttentionOp& op) {
      const Heads& h = op.heads_;
      input.batch = in[0].size(0);
      input.heads = h.heads;
      input.tokens = in[0].size(2);
      input.width = h.width;
      input.of_all = in[0].size(1) / 2;
      input.multiplicity = h.multiplicity;
      input.multiplicity_of_all = h.multiplicity_of_all;
      input.features = h.features.data();
      input.component = h.component.data();
      input.copy = h.copy.data();
      input.copy_of_all = h.copy_of_all.data();
      input.scale = static_cast<T>(op.scale_);
      input.q = numbers<T>(in[0]);
      input.k = numbers<T>(in[1]);
      input.v = numbers<T>(in[2]);
      input.taking_part = op.taking_part_.defined()
                              ? reinterpret_cast<const uint8_t*>(op.taking_part_.const_data_ptr<bool>())
                              : nullptr;
      input.splits = splits_of(input);
      if (op.positions_) {
        const Positions& p = *op.positions_;
        packed = p.packed(in[0].scalar_type());
        std::copy(p.grid().begin(), p.grid().end(), input.grid + 3 - p.grid().size());
        input.components = p.components();
        input.radii = p.radii();
        input.harmonics = numbers<T>(packed.harmonics);
        input.radius = numbers<int32_t>(packed.radius);
        input.functions = packed.functions;
        input.parts = packed.parts.data();
        input.key_weights = numbers<T>(in[3]);
        input.value_weights = numbers<T>(in[4]);
      }
    }
    kernels::SteerableAttentionInput<T> input;
    Positions::Packed packed;
  };

  static int64_t cost_of(int64_t tokens, int64_t width) { return tokens * tokens * width; }

  /// Heads are shared out whole when they keep all workers equally busy, else in parts.
  template <class T>
  static int64_t splits_of(const kernels::SteerableAttentionInput<T>& in) {
    const int64_t whole = std::max<int64_t>(in.batch * in.heads, 1);
    const int64_t workers = workers_worth(whole * cost_of(in.tokens, in.width), pair_nanoseconds);
    if (whole % workers == 0 || whole >= 8 * workers) {
      return 1;
    }
    return std::clamp<int64_t>(2 * workers / whole + 1, 1, (in.tokens + 31) / 32);
  }

  template <class T, class F>
  static void run(const kernels::SteerableAttentionInput<T>& in, const F& work) {
    const int64_t whole = in.batch * in.heads;
    const int64_t workers = std::min(workers_worth(whole * cost_of(in.tokens, in.width), pair_nanoseconds),
                                     std::max<int64_t>(in.units(), 1));
    const int64_t size = kernels::best<kernels::SteerableAttention<T>>().scratch(in);
    const Tensor scratch = at::empty({workers, size}, c10::CppTypeToScalarType<T>::value);
    share_out(in.units(), workers, [&](int64_t w, int64_t first, int64_t last) {
      work(mutable_numbers<T>(scratch) + w * size, first, last);
    });
  }

  Heads heads_;
  double scale_;
  std::shared_ptr<const Positions> positions_;
  Tensor taking_part_;  // (B, N) bool, or undefined
};

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const SteerableType& type, int64_t heads,
                 double scale, const std::shared_ptr<const Positions>& positions, const Tensor& key_weights,
                 const Tensor& value_weights, const Tensor& taking_part) {
  const char* where = "steerable_attention";
  require(type.irreps() > 0 && heads > 0, where, ": needs irreps and heads, got ", type.irreps(), " and ",
          heads);
  int64_t components = 0;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    require(type.channels[l] > 0 && type.channels[l] % heads == 0, where, ": ", heads,
            " heads must divide the channels of irrep ", l, ", got ", type.channels[l]);
    components += type.components(l);
  }
  require(q.defined() && q.dim() == 3 && q.size(1) == 2 * type.width() && q.size(2) > 0, where,
          ": q must be (B, ", 2 * type.width(), ", N), got ", q.defined() ? q.sizes() : at::IntArrayRef{});
  for (const Tensor& x : {k, v}) {
    require(x.defined() && x.sizes() == q.sizes() && x.scalar_type() == q.scalar_type(), where,
            ": k and v must be as q ", q.sizes(), ", got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  }
  if (positions) {
    require(positions->tokens() == q.size(2) && positions->components() == components, where,
            ": positions must be of ", q.size(2), " tokens and ", components, " components, got ",
            positions->tokens(), " and ", positions->components());
    for (const Tensor& w : {key_weights, value_weights}) {
      require(w.defined() && w.sizes() == at::IntArrayRef({positions->radii(), type.multiplicity(), 2}) &&
                  w.scalar_type() == q.scalar_type(),
              where, ": weights of positions must be (", positions->radii(), ", ", type.multiplicity(),
              ", 2) ", q.scalar_type(), ", got ", w.defined() ? w.sizes() : at::IntArrayRef{});
    }
  }
  require(!taking_part.defined() ||
              (taking_part.sizes() == at::IntArrayRef({q.size(0), q.size(2)}) &&
               taking_part.scalar_type() == at::kBool && taking_part.device() == q.device()),
          where, ": taking_part must be (", q.size(0), ", ", q.size(2), ") bool on the device of q, got ",
          taking_part.defined() ? taking_part.sizes() : at::IntArrayRef{});
  return call(std::make_shared<SteerableAttentionOp>(type, heads, scale, positions, taking_part),
              {q, k, v, positions ? key_weights : Tensor(), positions ? value_weights : Tensor()})[0];
}

}  // namespace weyl::steerable
