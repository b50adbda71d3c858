#include "weyl/models/steerable/conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/models/steerable/init.h"
#include "weyl/ops/steerable/conv.h"

namespace weyl::steerable {

Conv::Conv(const SteerableType& in, const SteerableType& out, const ConvOptions& options)
    : options_(options), kernel_(std::make_shared<Kernel>(in, out, options.kernel)) {
  require(!options.same || options.kernel.rings.size % 2 == 1,
          "SteerableConv: a convolution that keeps the size needs an odd kernel, got ",
          options.kernel.rings.size);
  Tensor init = initial_normals({kernel_->weights(), 2});
  if (!init.is_meta()) {
    init = init * kernel_->standard_deviations().unsqueeze(1) * std::sqrt(0.5);
  }
  weight_ = complex_parameter("weight", init, true);
}

Tensor Conv::operator()(const Tensor& x) const {
  const int64_t dimension = in().dimension;
  require(x.defined() && x.dim() == dimension + 2 && x.size(1) == 2 * in().width(),
          "SteerableConv: x must be (B, ", 2 * in().width(), ", ", dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  const bool constant = !follows_weights(training(), weight_);
  const bool dense = options_.stride != 1 || options_.dilation != 1 || UseReferences::active() ||
                     !conv_pays(x, *kernel_, options_.same, constant);
  if (!dense) {
    const Tensor weight = constant ? weight_.detach() : weight_;
    return conv(x, weight.to(x.scalar_type()), kernel_, options_.same);
  }
  const Tensor kernel =
      expanded_.get(training(), weight_, [&] { return kernel_->expand(weight_); }).to(x.scalar_type());
  const std::vector<int64_t> stride(static_cast<size_t>(dimension), options_.stride),
      dilation(static_cast<size_t>(dimension), options_.dilation),
      padding(static_cast<size_t>(dimension),
              options_.same ? options_.dilation * (options_.kernel.rings.size - 1) / 2 : 0);
  return dimension == 2 ? at::conv2d(x, kernel, {}, stride, padding, dilation)
                        : at::conv3d(x, kernel, {}, stride, padding, dilation);
}

Work Conv::work(bool input_learns) const {
  const double taps = std::pow(static_cast<double>(options_.kernel.rings.size), in().dimension);
  const auto numbers = static_cast<double>(in().width() * out().width());
  return Work::product(4 * numbers * taps, input_learns ? 2 : 1);  // complex numbers
}

}  // namespace weyl::steerable
