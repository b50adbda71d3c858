#include "weyl/models/steerable/stage.h"

#include <ATen/TensorOperators.h>

#include "weyl/models/steerable/layers.h"

namespace weyl::steerable {

std::shared_ptr<Layer> make_norm(NormLaw law, const SteerableType& type) {
  switch (law) {
    case NormLaw::joint:
      return std::make_shared<Norm>(type, Norm::Law::joint);
    case NormLaw::irrep:
      return std::make_shared<Norm>(type, Norm::Law::irrep);
    case NormLaw::layer:
      return std::make_shared<Norm>(type, Norm::Law::layer);
    case NormLaw::batch:
      return std::make_shared<BatchNorm>(type);
    case NormLaw::none:
      break;
  }
  return nullptr;
}

std::shared_ptr<Conv> make_conv(const Options& options, const SteerableType& in, const SteerableType& out,
                                int64_t kernel, int64_t stride, bool same) {
  ConvOptions o;
  o.kernel = {rings_of(options, kernel), options.coupling, options.restricted, options.all_degrees};
  o.stride = stride;
  o.same = same;
  return std::make_shared<Conv>(in, out, o);
}

StageNet::StageNet(const Options& options, const Shape& shape) : spacing_(shape.low_pass ? shape.stride : 1) {
  SteerableType wide = shape.middle;
  switch (shape.activation) {
    case Activation::relu:
    case Activation::gelu:
      activation_ = std::make_shared<NormActivation>(
          shape.middle,
          shape.activation == Activation::relu ? NormActivation::Law::relu : NormActivation::Law::gelu,
          options.bias_init);
      break;
    case Activation::cg:
      before_ = make_norm(options.norm, shape.middle);
      activation_ = std::make_shared<CgActivation>(shape.middle);
      break;
    case Activation::gated: {
      auto gates = std::make_shared<GatedActivation>(shape.middle);
      wide = gates->in();
      activation_ = std::move(gates);
      break;
    }
    case Activation::none:
      break;
  }
  first_ = child("conv1", make_conv(options, shape.in, wide, shape.kernel, shape.stride, shape.same));
  const auto keep = [&](const char* name, std::shared_ptr<Layer>& layer) {
    if (layer) {
      child(name, layer);
    }
  };
  keep("norm_before", before_);
  keep("activation", activation_);
  // Two convolutions with nothing between them would be one.
  const bool alone = shape.out && shape.activation == Activation::none;
  if (shape.norm_between || alone || shape.activation == Activation::cg || (!shape.out && shape.norm_after)) {
    between_ = make_norm(options.norm, shape.middle);
    keep("norm1", between_);
  }
  if (shape.out) {
    second_ = child("conv2", make_conv(options, shape.middle, *shape.out, shape.kernel, 1, true));
    if (shape.norm_after) {
      after_ = make_norm(options.norm, *shape.out);
      keep("norm2", after_);
    }
  }
}

Tensor StageNet::operator()(const Tensor& x) const {
  const auto apply = [](const std::shared_ptr<Layer>& layer, const Tensor& f) {
    return layer ? (*layer)(f) : f;
  };
  const Tensor y = apply(between_, apply(activation_, apply(before_, (*first_)(smoothed(x, spacing_)))));
  return second_ ? apply(after_, (*second_)(y)) : y;
}

Tensor StageNet::reached(const Tensor& seen) const {
  const Tensor y = first_->reached(reached_by_smoothing(seen, spacing_));
  return second_ ? second_->reached(y) : y;
}

Work StageNet::work_on(bool input_learns) const {
  return first_->work(input_learns) + (activation_ ? activation_->work() : Work()) +
         (second_ ? second_->work() : Work());
}

}  // namespace weyl::steerable
