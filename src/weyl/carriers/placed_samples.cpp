#include "weyl/carriers/placed_samples.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// x -> R (x - m) + m for each graph, m the mean of its positions.
Batch turned_in_place(const Batch& batch, const std::vector<Placement>& by, const Schema& schema) {
  const Tensor linear = at::empty({std::ssize(by), 3, 3}, at::kDouble);
  auto* to = linear.mutable_data_ptr<double>();
  for (const Placement& placement : by) {
    require(placement.shift == Placement{}.shift, "placed samples: points are turned, not shifted by cells");
    to = std::ranges::copy(placement.rotation, to).out;
  }
  const auto& points = std::get<Points>(batch.input);
  const Segments& graphs = points.graphs;
  const Tensor sizes = graphs.sizes_on_device().to(at::kDouble).clamp_min(1).unsqueeze(1);
  const Tensor mean = at::zeros({graphs.count(), 3}, at::kDouble)
                          .index_add(0, graphs.index, points.positions.to(at::kDouble)) /
                      sizes;
  return transform(batch, {linear, mean - at::matmul(linear, mean.unsqueeze(2)).squeeze(2)}, schema);
}

}  // namespace

Batch PlacedSamples::batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> samples;
  std::vector<Placement> by;
  for (const int64_t row : indices) {
    samples.push_back(row / copies_);
    by.push_back(by_(row));
  }
  if (holds_points_in_space(*data_)) {
    return turned_in_place(data_->batch(samples), by, schema());
  }
  std::optional<Batch> made = data_->made_anew(samples, by);
  require<DataError>(
      made.has_value(),
      "data: must be volumes that the set makes of shapes, since only these can be turned and shifted before "
      "they become cells, but are volumes as they are");
  return *std::move(made);
}

bool holds_points_in_space(const Dataset& data) {
  return data.schema().carrier() == Carrier::points && data.schema().interface.dimension == 3;
}

bool makes_anew(const Dataset& data) {
  const int64_t first = 0;
  const Placement as_it_is;
  return data.size() > 0 && data.made_anew({&first, 1}, {&as_it_is, 1}).has_value();
}

}  // namespace weyl
