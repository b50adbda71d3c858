#include "weyl/models/gatr/mlp.h"

#include "weyl/models/gatr/dropout.h"
#include "weyl/models/gatr/nonlinearity.h"

namespace weyl::gatr {

GeometricMlp::GeometricMlp(const Options& options)
    : activation_(options.activation), dropout_(options.dropout) {
  const int64_t width = options.width, scalars = options.scalars;
  bilinear_ =
      child("layers.0", std::make_shared<Bilinear>(EquiChannels{width, 2 * width, scalars, 2 * scalars}));
  linear_ =
      child("layers.2", std::make_shared<EquiLinear>(EquiChannels{2 * width, width, 2 * scalars, scalars}));
}

Streams GeometricMlp::operator()(const Streams& x, const Tensor& reference) const {
  const double rate = training() ? dropout_ : 0;
  const Streams hidden = drop_grades((*bilinear_)(x, reference), rate);
  return drop_grades((*linear_)(gated(hidden, activation_)), rate);
}

}  // namespace weyl::gatr
