#include "weyl/ops/multivectors/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <memory>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/multivectors/layout.h"

namespace weyl {
namespace {

constexpr double feature_nanoseconds = 10;  // of a channel of a token: estimated, to be measured

/// Where in a row of heads of `width` numbers lie `each` a head from `begin` on.
std::vector<int64_t> places_of(const HeadLayout& layout, int64_t each, int64_t begin, int64_t width) {
  std::vector<int64_t> places;
  for (int64_t e = 0; e < layout.heads * each; ++e) {
    const int64_t head = layout.head_fastest ? e % layout.heads : e / each;
    const int64_t one = layout.head_fastest ? e / layout.heads : e % each;
    places.push_back(head * width + begin + one);
  }
  return places;
}

Tensor empty_if(bool wanted, at::IntArrayRef sizes, const Tensor& like) {
  return wanted ? at::empty(sizes, like.options()) : Tensor();
}

/// The rows of workers that sum gradients of weights.
Tensor sums_if(bool wanted, int64_t workers, int64_t width, const Tensor& like) {
  return wanted ? at::zeros({workers, width}, like.options()) : Tensor();
}

}  // namespace

FeatureKernels::FeatureKernels(kernels::FeatureRole role, double epsilon, const HeadLayout& layout)
    : role_(role),
      epsilon_(epsilon),
      layout_(layout),
      width_(kernels::features_of(role) * layout.channels + layout.scalars),
      places_(places_of(layout, layout.channels, 0, width_)),
      scalar_places_(places_of(layout, layout.scalars, width_ - layout.scalars, width_)) {}

double FeatureKernels::cost() const {
  return feature_nanoseconds * static_cast<double>(all_channels()) + static_cast<double>(all_scalars());
}

template <class T>
kernels::MultivectorFeaturesInput<T> FeatureKernels::arguments(const ComponentRows& x,
                                                               const Tensor& weights) const {
  kernels::MultivectorFeaturesInput<T> in;
  in.role = role_;
  in.epsilon = static_cast<T>(epsilon_);
  in.channels = all_channels();
  in.scalar_count = all_scalars();
  in.width = layout_.heads * width_;
  in.stride = layout_.channels;
  in.places = places_.data();
  in.scalar_places = scalar_places_.data();
  in.run = layout_.heads == 1 || !layout_.head_fastest ? layout_.channels : 0;
  in.x = x.read<T>();
  in.weights = numbers<T>(weights);
  return in;
}

Tensor FeatureKernels::forward(const Tensor& x, const Tensor& scalars, const Tensor& weights) const {
  const int64_t tokens = x.size(1);
  const Tensor y = at::empty({tokens, layout_.heads, width_}, x.options()), s = contiguous_of(scalars);
  const ComponentRows rows(x);
  with_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const auto& kernel = kernels::best<kernels::MultivectorFeatures<T>>();
    auto in = arguments<T>(rows, weights);
    in.scalars = numbers<T>(s);
    in.scalar_row = all_scalars();
    share_out(tokens, workers_worth(tokens, cost()), [&](int64_t, int64_t first, int64_t last) {
      kernel.forward(in, mutable_numbers<T>(y), first, last);
    });
  });
  return y;
}

FeatureGradients FeatureKernels::backward(const Tensor& x, const Tensor& weights, const Tensor& given,
                                          const WantedFeatureGradients& wanted) const {
  const Tensor gy = given.contiguous();
  const int64_t tokens = gy.size(0), workers = workers_worth(tokens, cost());
  FeatureGradients g;
  g.x = empty_if(wanted.x, {clifford::components, tokens, all_channels()}, gy);
  g.scalars = empty_if(wanted.scalars, {tokens, all_scalars()}, gy);
  const Tensor sums = sums_if(wanted.weights, workers, all_channels(), gy);
  const ComponentRows rows(x), to(g.x);
  with_type(gy.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const auto& kernel = kernels::best<kernels::MultivectorFeatures<T>>();
    const auto in = arguments<T>(rows, weights);
    share_out(tokens, workers, [&](int64_t w, int64_t first, int64_t last) {
      kernel.backward(in, numbers<T>(gy), to.write<T>(), mutable_numbers<T>(g.scalars), row_of<T>(sums, w),
                      first, last);
    });
  });
  g.weights = wanted.weights ? sums.sum(0) : Tensor();
  return g;
}

FeatureGradients FeatureKernels::second(const Tensor& x, const Tensor& weights, const Tensor& given,
                                        const FeatureDirections& directions,
                                        const WantedFeatureGradients& wanted) const {
  const Tensor gy = given.contiguous(), dscalars = contiguous_of(directions.scalars);
  const int64_t tokens = gy.size(0), workers = workers_worth(tokens, 2 * cost());
  FeatureGradients g;
  g.x = empty_if(wanted.x, x.sizes(), gy);
  g.gy = empty_if(wanted.gy, gy.sizes(), gy);
  const Tensor sums = sums_if(wanted.weights, workers, all_channels(), gy);
  const ComponentRows rows(x), dx(directions.x), to(g.x);
  with_type(gy.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const auto& kernel = kernels::best<kernels::MultivectorFeatures<T>>();
    const auto in = arguments<T>(rows, weights);
    share_out(tokens, workers, [&](int64_t w, int64_t first, int64_t last) {
      kernel.second(in, numbers<T>(gy), dx.read<T>(), numbers<T>(dscalars), numbers<T>(directions.weights),
                    to.write<T>(), row_of<T>(sums, w), mutable_numbers<T>(g.gy), first, last);
    });
  });
  g.weights = wanted.weights ? sums.sum(0) : Tensor();
  return g;
}

namespace {

using kernels::FeatureRole;

/// (16, N, C H) -> (N, H, 16, C), and scalars (N, S H) -> (N, H, S).
Tensor by_heads(const Tensor& multivectors, int64_t heads) {
  return multivectors.unflatten(2, {multivectors.size(2) / heads, heads}).permute({1, 3, 0, 2});
}
Tensor scalars_by_heads(const Tensor& scalars, int64_t heads) {
  return scalars.unflatten(1, {scalars.size(1) / heads, heads}).transpose(1, 2);
}

/// What the distance is made of: u = t v / (v^2 + epsilon) of the trivector (N, H, 4, C), v its last component.
struct Distance {
  Distance(const Tensor& x, double epsilon) {
    const Tensor t = x.narrow(2, clifford::e012, 4), v = t.narrow(2, 3, 1);
    const Tensor u = t * (v / (v * v + epsilon)), weight = u.narrow(2, 3, 1), place = u.narrow(2, 0, 3);
    squares = place.square().sum(2, /*keepdim=*/true);
    weights = weight.square();
    products = place * weight;
  }
  Tensor squares, weights, products;
};

/// Inputs multivectors (16, N, C H), scalars (N, S H) or undefined, and of queries weights (H, C).
class Features : public Differentiable {
 public:
  Features(FeatureRole role, int64_t heads, double epsilon) : role_(role), heads_(heads), epsilon_(epsilon) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor x = by_heads(in[0], heads_);
    Tensors row;
    if (role_ == FeatureRole::value) {
      row.push_back(x.flatten(2));
    } else {
      row = {x.narrow(2, clifford::one, 1).flatten(2), x.narrow(2, clifford::e1, 3).flatten(2),
             x.narrow(2, clifford::e12, 3).flatten(2)};
      const Distance d(x, epsilon_);
      const Tensor five = role_ == FeatureRole::query
                              ? at::cat({d.squares, d.weights, d.products}, 2) * in[2].unsqueeze(1)
                              : at::cat({-d.weights, -d.squares, d.products * 2}, 2);
      row.push_back(five.flatten(2));
    }
    if (in[1].defined()) {
      row.push_back(scalars_by_heads(in[1], heads_));
    }
    return {at::cat(row, -1)};
  }

  bool recomputes() const override { return true; }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    return {kernels_for(in).forward(in[0], in[1], in_channel_order(in[2]))};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const FeatureGradients g =
        kernels_for(in).backward(in[0], in_channel_order(in[2]), gys[0], {needed[0], needed[1], needed[2]});
    return {g.x, g.scalars, by_head(g.weights)};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const FeatureGradients g =
        kernels_for(in).second(in[0], in_channel_order(in[2]), gys[0],
                               {directions[0], directions[1], in_channel_order(directions[2])},
                               {needed[0], false, needed[2], needed[3]});
    return {g.x, Tensor(), by_head(g.weights), g.gy};
  }

 private:
  FeatureKernels kernels_for(const Tensors& in) const {
    const int64_t scalars = in[1].defined() ? in[1].size(1) / heads_ : 0;
    return {role_, epsilon_, {heads_, in[0].size(2) / heads_, scalars, /*head_fastest=*/true}};
  }
  /// (H, C) -> (C H) as channels lie, and back; undefined stays so.
  static Tensor in_channel_order(const Tensor& weights) {
    return weights.defined() ? weights.t().contiguous() : weights;
  }
  Tensor by_head(const Tensor& sums) const { return sums.defined() ? sums.view({-1, heads_}).t() : sums; }

  FeatureRole role_;
  int64_t heads_;
  double epsilon_;
};

/// Input (N, H, 16 C + S); results multivectors (16, N, H C) and, where there are some, scalars (N, H S): what `value`
/// does, backwards, with channels in another order.
class OfHeads : public Differentiable {
 public:
  OfHeads(int64_t channels, int64_t scalars) : channels_(channels), scalars_(scalars) {}
  size_t results() const override { return scalars_ > 0 ? 2 : 1; }

  Tensors reference(const Tensors& in) const override {
    constexpr int64_t n = clifford::components;
    const int64_t tokens = in[0].size(0), heads = in[0].size(1);
    Tensors both{in[0]
                     .narrow(2, 0, n * channels_)
                     .unflatten(2, {n, channels_})
                     .permute({2, 0, 1, 3})
                     .reshape({n, tokens, heads * channels_})};
    if (scalars_ > 0) {
      both.push_back(in[0].narrow(2, n * channels_, scalars_).reshape({tokens, heads * scalars_}));
    }
    return both;
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override { return apart(in[0]); }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    return {kernels_for(in[0]).forward(gys[0], scalars_ > 0 ? gys[1] : Tensor(), {})};
  }

  /// Linear: nothing for the input.
  Tensors second(const Tensors&, const Tensors&, const Tensors&, const Tensors& directions,
                 const std::vector<bool>&) const override {
    Tensors g = apart(directions[0]);
    g.insert(g.begin(), Tensor());
    return g;
  }

 private:
  FeatureKernels kernels_for(const Tensor& y) const {
    return {FeatureRole::value, 0, {y.size(1), channels_, scalars_, /*head_fastest=*/false}};
  }
  Tensors apart(const Tensor& y) const {
    const FeatureGradients g = kernels_for(y).backward({}, {}, y, {true, scalars_ > 0, false});
    return scalars_ > 0 ? Tensors{g.x, g.scalars} : Tensors{g.x};
  }

  int64_t channels_, scalars_;
};

Tensor features(const char* where, FeatureRole role, const MultivectorsAndScalars& x, const Tensor& weights,
                int64_t heads, double epsilon) {
  const int64_t tokens = x.multivectors.size(1);
  require(!x.scalars.defined() || (x.scalars.dim() == 2 && x.scalars.size(0) == tokens &&
                                   x.scalars.size(1) % heads == 0 && x.scalars.is_floating_point()),
          where, ": scalars must be (", tokens, ", S ", heads, "), got ",
          x.scalars.defined() ? x.scalars.sizes() : at::IntArrayRef{});
  const FullPrecision no_autocast;
  return call(std::make_shared<Features>(role, heads, epsilon),
              {widened(x.multivectors), widened(x.scalars), weights})[0];
}

void require_heads(const char* where, const MultivectorsAndScalars& x, int64_t heads) {
  require_multivectors(where, "multivectors", x.multivectors);
  require(heads > 0 && x.multivectors.size(2) % heads == 0, where, ": ", heads,
          " heads must divide the channels of multivectors, got ", x.multivectors.sizes());
}

}  // namespace

Tensor multivector_queries(const MultivectorsAndScalars& q, const Tensor& log_weights, int64_t heads,
                           double epsilon) {
  const char* where = "multivector_queries";
  require_heads(where, q, heads);
  const int64_t channels = q.multivectors.size(2) / heads;
  require(log_weights.defined() && log_weights.dim() >= 2 && log_weights.size(0) == heads &&
              log_weights.numel() == heads * channels,
          where, ": log_weights must be (", heads, ", ", channels, "), got ",
          log_weights.defined() ? log_weights.sizes() : at::IntArrayRef{});
  const FullPrecision no_autocast;
  const Tensor weights = widened(log_weights).reshape({heads, channels}).exp();
  return features(where, FeatureRole::query, q, weights, heads, epsilon);
}

Tensor multivector_keys(const MultivectorsAndScalars& k, int64_t heads, double epsilon) {
  require_heads("multivector_keys", k, heads);
  return features("multivector_keys", FeatureRole::key, k, {}, heads, epsilon);
}

Tensor multivector_values(const MultivectorsAndScalars& v, int64_t heads) {
  require_heads("multivector_values", v, heads);
  return features("multivector_values", FeatureRole::value, v, {}, heads, 1);
}

MultivectorsAndScalars of_multivector_heads(const Tensor& y, int64_t channels) {
  constexpr int64_t n = clifford::components;
  require(y.defined() && y.dim() == 3 && channels >= 0 && y.size(2) >= n * channels,
          "of_multivector_heads: y must be (N, H, ", n * channels, " + S), got ",
          y.defined() ? y.sizes() : at::IntArrayRef{});
  const int64_t scalars = y.size(2) - n * channels;
  Tensors both = call(std::make_shared<OfHeads>(channels, scalars), {y});
  both.resize(2);
  return {both[0], both[1]};
}

double multivector_attention_scale(int64_t channels, int64_t scalars) {
  return 1 / std::sqrt(static_cast<double>(12 * channels + scalars));
}

MultivectorsAndScalars multivector_attention(const MultivectorsAndScalars& q, const MultivectorsAndScalars& k,
                                             const MultivectorsAndScalars& v, const Tensor& log_weights,
                                             const Segments& graphs, int64_t heads, double epsilon) {
  const Tensor queries = multivector_queries(q, log_weights, heads, epsilon);
  const int64_t channels = q.multivectors.size(2) / heads, scalars = queries.size(2) - 12 * channels;
  const auto stored = [&](const char* name, const MultivectorsAndScalars& x) {
    require_multivectors("multivector_attention", name, x.multivectors);
    require(x.multivectors.size(2) == channels || x.multivectors.size(2) == heads * channels,
            "multivector_attention: ", name, " must have ", channels, " or ", heads * channels,
            " channels, got ", x.multivectors.sizes());
    return x.multivectors.size(2) == channels ? 1 : heads;
  };
  const Tensor y = ragged_attention(queries, multivector_keys(k, stored("k", k), epsilon),
                                    multivector_values(v, stored("v", v)), graphs,
                                    multivector_attention_scale(channels, scalars));
  return of_multivector_heads(y, channels);
}

}  // namespace weyl
