#include "weyl/data/sets/cloud_set.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr Rotation kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};

/// Rows `which` of (P, c) values.
std::vector<double> rows_of(const std::vector<double>& values, const std::vector<int64_t>& which,
                            int64_t points) {
  const int64_t width = std::ssize(values) / points;
  std::vector<double> result;
  result.reserve(which.size() * width);
  for (const int64_t row : which) {
    result.insert(result.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  }
  return result;
}

}  // namespace

void keep_rows(Cloud& cloud, const std::vector<int64_t>& rows) {
  const int64_t points = cloud.points();
  if (std::ssize(rows) == points) {
    return;
  }
  cloud.positions = rows_of(cloud.positions, rows, points);
  for (auto& values : cloud.features) {
    values = rows_of(values, rows, points);
  }
}

CloudSet::CloudSet(std::vector<HeldCloud> clouds, Schema schema, const CloudsDataOptions& options)
    : clouds_(std::move(clouds)), schema_(std::move(schema)), options_(options) {}

Batch CloudSet::batch(std::span<const int64_t> indices) const {
  return batch_of(indices, nullptr);
}

Batch CloudSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& draw) const {
  return batch_of(indices, options_.input.augment ? &draw : nullptr);
}

CloudSet::Seen CloudSet::seen(int64_t index, const Draw* draw) const {
  const HeldCloud& held = clouds_.at(index);
  std::optional<Stream> stream;
  if (draw != nullptr) {
    stream.emplace(
        draw->seed, "cloud",
        std::initializer_list<uint64_t>{static_cast<uint64_t>(draw->epoch), static_cast<uint64_t>(index)});
  }
  std::vector<int64_t> rows = held.rows;
  if (stream && options_.input.draws()) {
    rows = draw_rows(held.cloud.points(), options_.points, *stream);
  }
  std::vector<double> points =
      rows.empty() ? held.cloud.positions : rows_of(held.cloud.positions, rows, held.cloud.points());
  Seen seen{&held.cloud, view_of(std::move(points), options_.input, static_cast<int>(options_.up), kUpright,
                                 stream ? &*stream : nullptr)};
  if (!rows.empty()) {
    for (int64_t& row : seen.view.rows) {
      row = rows[row];
    }
  }
  return seen;
}

Batch CloudSet::batch_of(std::span<const int64_t> indices, const Draw* draw) const {
  std::vector<Seen> clouds;
  std::vector<int64_t> sizes;
  int64_t rows = 0;
  for (const int64_t i : indices) {
    clouds.push_back(seen(i, draw));
    sizes.push_back(clouds.back().view.nodes());
    rows += sizes.back();
  }
  const auto& features = schema_.interface.features;
  Points points;
  points.positions = at::empty({rows, 3}, at::kDouble);
  points.graphs = Segments::of_sizes(sizes);
  auto* to = points.positions.mutable_data_ptr<double>();
  for (const Seen& cloud : clouds) {
    to = std::ranges::copy(cloud.view.positions, to).out;
  }
  const int64_t scalars = channels_of(features, Level::node, Kind::scalar),
                vectors = channels_of(features, Level::node, Kind::vector);
  if (scalars > 0) {
    points.scalars = at::empty({rows, scalars}, at::kDouble);
    fill(points.scalars, clouds, Kind::scalar);
  }
  if (vectors > 0) {
    points.vectors = at::empty({rows, vectors, 3}, at::kDouble);
    fill(points.vectors, clouds, Kind::vector);
  }
  Batch result;
  result.input = std::move(points);
  if (!schema_.labels.empty()) {
    Tensor labels = at::empty({std::ssize(indices), 1}, at::kLong);
    auto* label = labels.mutable_data_ptr<int64_t>();
    for (const int64_t i : indices) {
      *label++ = clouds_[i].cloud.label;
    }
    result.labels["class"] = labels;
  }
  return result;
}

/// The columns of the features of a kind, one after the other: those of the files, which turn with the points, then those
/// that the points make.
void CloudSet::fill(const Tensor& tensor, const std::vector<Seen>& clouds, Kind kind) const {
  const int64_t width = tensor.numel() / std::max<int64_t>(tensor.size(0), 1);
  auto* row = tensor.mutable_data_ptr<double>();
  for (const Seen& seen : clouds) {
    int64_t begin = 0;
    for (size_t k = 0; k < options_.features.size(); ++k) {
      const Quantity& q = schema_.interface.features[k];
      if (q.kind != kind) {
        continue;
      }
      const int64_t numbers = kind == Kind::vector ? 3 : q.channels;
      auto* to = row + begin;
      for (const int64_t p : seen.view.rows) {
        std::copy_n(seen.cloud->features[k].data() + p * numbers, numbers, to);
        if (kind == Kind::vector && seen.view.turned != kUpright) {
          turn(std::span(to, 3), seen.view.turned);
        }
        to += width;
      }
      begin += numbers;
    }
    if (kind == Kind::vector) {
      put_vectors(seen.view, begin / 3, width / 3, row);
    }
    row += seen.view.nodes() * width;
  }
}

}  // namespace weyl
