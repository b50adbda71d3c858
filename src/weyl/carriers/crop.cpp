#include "weyl/carriers/crop.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/nonzero.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

const Grid& grid_of(const Batch& batch) {
  const auto* grid = std::get_if<Grid>(&batch.input);
  require(grid != nullptr, "crop: the input must be a grid, got ", name_of(carrier_of(batch.input)));
  return *grid;
}

std::vector<int64_t> along_all(std::span<const int64_t> size, int64_t axes) {
  const auto n = static_cast<int64_t>(size.size());
  require(n == axes || n == 1, "crop: must be one number, or one for each of the ", axes, " axes, got ", n);
  return n == axes ? std::vector<int64_t>(size.begin(), size.end()) : std::vector<int64_t>(axes, size[0]);
}

/// Negative padding cuts.
Tensor cut(const Tensor& x, const Crop& crop) {
  const auto d = static_cast<int64_t>(crop.size.size());
  std::vector<int64_t> pad;
  for (int64_t a = d - 1; a >= 0; --a) {
    pad.insert(pad.end(), {-crop.begin[a], crop.begin[a] + crop.size[a] - x.size(x.dim() - d + a)});
  }
  return at::constant_pad_nd(x, pad, 0);
}

/// The cells (M, D) where a category of node level is above 0, neither background nor unlabelled; undefined when no label is
/// one.
Tensor foreground_of(const Batch& one, const Schema& schema) {
  for (const Quantity& q : schema.labels) {
    const auto found = one.labels.find(q.name);
    if (q.level == Level::node && q.kind == Kind::category && found != one.labels.end()) {
      return at::nonzero(found->second[0].gt(0).any(0));
    }
  }
  return {};
}

}  // namespace

Batch cropped(const Batch& batch, const Crop& crop, const Schema& schema) {
  const Grid& grid = grid_of(batch);
  const auto axes = static_cast<size_t>(grid.values.dim() - 2);
  require(crop.begin.size() == axes && crop.size.size() == axes, "crop: must have ", axes, " axes, got ",
          crop.size.size());
  Batch result = batch;
  std::get<Grid>(result.input).values = cut(grid.values, crop);
  for (const Quantity& q : schema.labels) {
    const auto found = result.labels.find(q.name);
    if (q.level == Level::node && found != result.labels.end()) {
      found->second = cut(found->second, crop);
    }
  }
  return result;
}

Crop random_crop(const Batch& one, std::span<const int64_t> size, double foreground, const Schema& schema,
                 Stream& stream) {
  const Grid& grid = grid_of(one);
  require(grid.count() == 1, "crop: must be of one grid, got ", grid.count());
  const int64_t d = grid.values.dim() - 2;
  Crop crop{std::vector<int64_t>(d), along_all(size, d)};
  Tensor cells;
  if (stream.uniform() < foreground) {
    cells = foreground_of(one, schema);
  }
  const bool centred = cells.defined() && cells.size(0) > 0;
  const Tensor cell = centred ? cells[stream.below(cells.size(0))] : Tensor();
  for (int64_t a = 0; a < d; ++a) {
    const int64_t room = grid.values.size(2 + a) - crop.size[a];
    if (room < 0) {
      crop.begin[a] = -(-room / 2);
    } else if (centred) {
      crop.begin[a] = std::clamp<int64_t>(cell[a].item<int64_t>() - crop.size[a] / 2, 0, room);
    } else {
      crop.begin[a] = stream.below(room + 1);
    }
  }
  return crop;
}

Crop central_crop(const Grid& grid, std::span<const int64_t> size) {
  const int64_t d = grid.values.dim() - 2;
  Crop crop{std::vector<int64_t>(d), along_all(size, d)};
  for (int64_t a = 0; a < d; ++a) {
    crop.size[a] = std::min(crop.size[a], grid.values.size(2 + a));
    crop.begin[a] = (grid.values.size(2 + a) - crop.size[a]) / 2;
  }
  return crop;
}

}  // namespace weyl
