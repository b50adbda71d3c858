#include "weyl/study/exact_part.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "weyl/carriers/crop.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string grid_size(at::IntArrayRef sizes) {
  std::string result;
  for (const int64_t n : sizes) {
    result += (result.empty() ? "" : " x ") + std::to_string(n);
  }
  return result;
}

std::string listed(const std::vector<std::string>& obstacles) {
  std::string all;
  for (const std::string& obstacle : obstacles) {
    all += (all.empty() ? "" : "; ") + obstacle;
  }
  return all;
}

Batch exact_graphs(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  const Symmetry whole = model.symmetry_for(samples.input);
  if (whole.obstacles.empty()) {
    return samples;
  }
  note = listed(whole.obstacles);
  std::vector<int64_t> exact;
  for (int64_t b = 0; b < samples.count(); ++b) {
    if (model.symmetry_for(take(samples, {&b, 1}, schema).input).obstacles.empty()) {
      exact.push_back(b);
    }
  }
  require<DataError>(!exact.empty(),
                     "audit: the samples must hold one for which something is exact, got none of ",
                     samples.count(), ": ", note);
  note += text("; audited on the other ", exact.size());
  return take(samples, exact, schema);
}

Batch exact_cells(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  const Symmetry whole = model.symmetry_for(samples.input);
  if (!whole.exact.empty()) {
    return samples;
  }
  const Grid& grid = std::get<Grid>(samples.input);
  const auto sizes = grid.values.sizes().slice(2);
  const std::string obstacles = listed(whole.obstacles);
  for (int64_t n = *std::min_element(sizes.begin(), sizes.end()); n >= 1; --n) {
    std::vector<int64_t> shape{1, grid.values.size(1)};
    shape.insert(shape.end(), sizes.size(), n);
    const Grid example{at::empty(shape, grid.values.options()), grid.spacing};
    if (model.symmetry_for(example).exact.empty()) {
      continue;
    }
    const Batch part = cropped(samples, central_crop(grid, std::vector<int64_t>{n}), schema);
    const auto& cells = std::get<Grid>(part.input).values.sizes();
    note =
        text("on ", grid_size(sizes), " cells nothing is exact; audited on the ", grid_size(cells.slice(2)),
             " in their middle, where it is", obstacles.empty() ? "" : "; ", obstacles);
    return part;
  }
  note = obstacles;
  return samples;
}

}  // namespace

Batch exact_part(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  switch (carrier_of(samples.input)) {
    case Carrier::points:
      return exact_graphs(model, samples, schema, note);
    case Carrier::grid:
      return exact_cells(model, samples, schema, note);
    case Carrier::poses:
      break;
  }
  return samples;
}

}  // namespace weyl
