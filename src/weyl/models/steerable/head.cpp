#include "weyl/models/steerable/head.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/elu.h>

#include "weyl/core/check.h"
#include "weyl/models/steerable/layers.h"
#include "weyl/ops/steerable/irrep_norms.h"

namespace weyl::steerable {

Tensor invariants(const Tensor& x, const SteerableType& type, bool joint) {
  Tensor squares = irrep_squares(x, type);
  if (joint || type.dimension == 2) {
    squares = squares.unflatten(1, {type.irreps(), type.channels.front()}).sum(1);
  }
  return (squares + 1e-10).sqrt();
}

int64_t invariants_of(const SteerableType& type, bool joint) {
  return joint || type.dimension == 2 ? type.channels.front() : type.multiplicity();
}

ClassificationHead::ClassificationHead(const Options& options, const SteerableType& type, int64_t outputs)
    : type_(type), dropout_(options.head.dropout) {
  const HeadOptions& o = options.head;
  if (o.kernel > 0) {
    const int64_t channels = o.channels > 0 ? o.channels : type.channels.front();
    type_ = o.irreps == HeadIrreps::trivial
                ? SteerableType{type.dimension, {channels}}
                : type_of(options, type.dimension, channels, "model.steerable.head.channels");
    conv_ = child("conv", make_conv(options, type, type_, o.kernel, 1, false));
  }
  int64_t width = invariants_of(type_, false);
  if (o.hidden > 0) {
    first_ = child("linear1", std::make_shared<weyl::Linear>(width, o.hidden, /*bias=*/!o.batch_norm));
    if (o.batch_norm) {
      norm_ = child("norm", std::make_shared<weyl::BatchNorm>(o.hidden));
    }
    width = o.hidden;
  }
  last_ = child("linear2", std::make_shared<weyl::Linear>(width, outputs));
}

Tensor ClassificationHead::operator()(const Tensor& x) const {
  Tensor y = invariants(conv_ ? (*conv_)(x) : x, type_, false).flatten(2).mean(2);
  if (first_) {
    y = (*first_)(y);
    y = at::elu(norm_ ? (*norm_)(y) : y);
    y = training() && dropout_ > 0 ? at::dropout(y, dropout_, true) : y;
  }
  return (*last_)(y);
}

Work ClassificationHead::work(double pixels) const {
  Work work = conv_ ? pixels * conv_->work() : Work();
  for (const auto& map : {first_, last_}) {
    work += map ? Work::product(static_cast<double>(map->weight().numel())) : Work();
  }
  return work;
}

SegmentationHead::SegmentationHead(const Options& options, const SteerableType& type, int64_t outputs)
    : type_(type), outputs_(outputs) {
  require<ConfigError>(type.channels.front() >= outputs, "model.steerable.head.channels: must be the ",
                       outputs, " outputs at least, got ", type.channels.front());
  if (options.head.scale_and_bias) {
    scale_ = parameter("scale", {outputs}, Init::ones());
    bias_ = parameter("bias", {outputs}, Init::zeros());
  }
}

Tensor SegmentationHead::operator()(const Tensor& x, at::IntArrayRef sizes) const {
  const Tensor y = invariants(upsample(x, sizes), type_, true).narrow(1, 0, outputs_);
  return scale_.defined() ? y * along_channels(scale_, y) + along_channels(bias_, y) : y;
}

}  // namespace weyl::steerable
