#include "weyl/models/gatr/norm.h"

#include "weyl/nn/norms.h"
#include "weyl/ops/multivectors/norm.h"

namespace weyl::gatr {

Streams normalised(const Streams& x) {
  constexpr double least_square = 0.01;  // the authors': what mean squares are clamped to
  return {normalise_multivectors(x.multivectors, least_square), normalise_layer(x.scalars)};
}

}  // namespace weyl::gatr
