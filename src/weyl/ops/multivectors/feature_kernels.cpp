#include "weyl/ops/multivectors/feature_kernels.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/parallel.h"

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

}  // namespace weyl
