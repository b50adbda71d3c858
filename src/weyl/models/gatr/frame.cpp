#include "weyl/models/gatr/frame.h"

#include <ATen/TensorOperators.h>

#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl::gatr {

Frame frame_of(const Points& points, bool centred) {
  if (!centred) {
    return {points.positions, {}};
  }
  // In float64, rounded once: in float32 the mean of far positions would lose what tells them apart.
  const Tensor wide = points.positions.to(at::kDouble);
  const Tensor origin = spread(segment_mean(wide, points.graphs), points.graphs);
  return {(wide - origin).to(points.positions.scalar_type()), origin};
}

}  // namespace weyl::gatr
