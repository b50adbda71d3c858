#include "weyl/study/samples/grid_samples.h"

#include <algorithm>
#include <cmath>

#include "weyl/carriers/crop.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::vector<int64_t> part_that_fits(const Subject& subject) {
  if (!subject.recipe.train.crop.empty()) {
    return subject.recipe.train.crop;
  }
  return subject.task != nullptr ? subject.task->window() : std::vector<int64_t>{};
}

}  // namespace

std::vector<int64_t> shape_of_grids(const Subject& subject) {
  if (subject.recipe.bench && !subject.recipe.bench->shape.empty()) {
    return subject.recipe.bench->shape;
  }
  const Interface& interface = subject.model->interface;
  const double side = std::pow(interface.typical_nodes, 1.0 / static_cast<double>(interface.dimension));
  return {std::max<int64_t>(1, std::llround(side))};
}

Batch middle_parts(const Subject& subject, const Dataset& data, std::span<const int64_t> samples) {
  const std::vector<int64_t> most = part_that_fits(subject);
  std::vector<Batch> parts;
  std::vector<int64_t> least;
  const auto cut = [&](const Batch& batch, const std::vector<int64_t>& size) {
    return size.empty() ? batch
                        : cropped(batch, central_crop(std::get<Grid>(batch.input), size), data.schema());
  };
  for (const int64_t sample : samples) {
    parts.push_back(cut(data.batch({&sample, 1}), most));
    const auto sizes = std::get<Grid>(parts.back().input).values.sizes().slice(2);
    least.resize(sizes.size(), sizes[0]);
    for (size_t a = 0; a < sizes.size(); ++a) {
      least[a] = parts.size() == 1 ? sizes[a] : std::min(least[a], sizes[a]);
    }
  }
  for (Batch& part : parts) {
    part = cut(part, least);
  }
  return concatenate(parts, data.schema());
}

}  // namespace weyl
