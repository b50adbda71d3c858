#include "weyl/tasks/conformers.h"

#include <ATen/TensorOperators.h>

#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/ops/segment.h"

namespace weyl {
Tensor mean_over_conformers(const Batch& batch, const std::function<Tensor(const Input&)>& f) {
  const auto label = batch.labels.find(conformers_label);
  if (label == batch.labels.end()) {
    return f(batch.input);
  }
  const auto* given = std::get_if<Points>(&batch.input);
  const Tensor& all = label->second;
  require(given != nullptr && all.dim() == 3 && all.size(0) == given->nodes() && all.size(1) > 0 &&
              all.size(2) == given->dimension(),
          "the label 'conformers' must be (N, C, ", given != nullptr ? given->dimension() : 3,
          ") of points, got ", all.sizes());
  const auto centres = [&](const Tensor& places) {
    return segment_mean(places, given->graphs).index_select(0, given->graphs.index);
  };
  const Tensor wide = given->positions.to(at::kDouble), centre = centres(wide);
  const Tensor counts = to_device(count_conformers(all, given->graphs), wide.device());
  Points points = *given;
  Tensor sum;  // with the graphs last
  for (int64_t c = 0; c < all.size(1); ++c) {
    const Tensor places = to_device(all.select(1, c).contiguous(), wide.device()).to(at::kDouble);
    points.positions = (places - centres(places) + centre).to(given->positions.scalar_type());
    const Tensor value = f(Input(points)).transpose(0, -1);
    const Tensor weighted = value * counts.gt(c).to(value.scalar_type());
    sum = sum.defined() ? sum + weighted : weighted;
  }
  return (sum / counts.to(sum.scalar_type())).transpose(0, -1);
}

}  // namespace weyl
