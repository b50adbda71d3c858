#include "weyl/data/sets/shape_set.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/sets/modelnet.h"
#include "weyl/data/shapes/cloud_view.h"
#include "weyl/data/shapes/voxels.h"

namespace weyl {

ShapeSet::ShapeSet(std::vector<Shape> shapes, const ModelnetDataOptions& options, std::string split, int up,
                   std::vector<std::string> names)
    : shapes_(std::move(shapes)), options_(options), split_(std::move(split)), up_(up) {
  schema_ = modelnet_schema(options_);
  if (std::any_of(shapes_.begin(), shapes_.end(), [](const Shape& s) { return s.label < 0; })) {
    schema_.labels.clear();
  }
  if (!names.empty()) {
    schema_.category_names["class"] = std::move(names);
  }
  const bool training = split_ == "train";
  bool choice = options_.input.centres > 0;
  for (Shape& shape : shapes_) {
    choice = choice || shape.mesh != nullptr || std::ssize(shape.points) > 3 * options_.points;
    if (!training) {  // which alone draws among all of its points
      shape.points.resize(3 * options_.points);
      shape.points.shrink_to_fit();
      shape.mesh = options_.fill == VoxelFill::surface ? shape.mesh : nullptr;
    }
  }
  if (training && options_.input.draws() && !choice) {
    schema_.warnings.push_back(
        text("data.modelnet.augment.draw draws nothing: the training samples have no more than ",
             options_.points, " points, and all of them are nodes"));
  }
}

int64_t ShapeSet::tokens(int64_t /*index*/) const {
  const int64_t n = options_.voxels;
  return options_.carrier == ShapeCarrier::grid ? n * n * n : options_.input.nodes(options_.points);
}

Lattice ShapeSet::lattice(int64_t /*index*/) const {
  const int64_t n = options_.voxels;
  return options_.carrier == ShapeCarrier::grid ? Lattice{{n, n, n}, {side(), side(), side()}} : Lattice{};
}

Batch ShapeSet::batch(std::span<const int64_t> indices) const {
  return labelled(options_.carrier == ShapeCarrier::grid ? grids(indices) : clouds(indices, nullptr),
                  indices);
}

Batch ShapeSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& draw) const {
  return options_.input.augment ? labelled(clouds(indices, &draw), indices) : batch(indices);
}

Rotation ShapeSet::rotation_of(const Shape& shape) const {
  Stream stream(static_cast<uint64_t>(options_.seed), "modelnet rotation " + split_, {shape.number});
  return draw_rotation(split_ == "test" ? options_.rotate : options_.rotate_train, up_, stream);
}

std::vector<float> ShapeSet::placed(std::vector<float> points, const Shape& shape) const {
  if (options_.fit && !shape.fitted) {
    fit_into_ball(std::span(points));
  }
  turn(std::span(points), rotation_of(shape));
  return points;
}

std::vector<float> ShapeSet::taken(const Shape& shape) const {
  return placed({shape.points.begin(), shape.points.begin() + 3 * options_.points}, shape);
}

std::vector<float> ShapeSet::drawn(const Shape& shape, Stream& stream) const {
  std::vector<float> points;
  if (shape.mesh != nullptr) {
    points = sample_surface(*shape.mesh, options_.points, stream);
  } else {
    for (const int64_t row : draw_rows(std::ssize(shape.points) / 3, options_.points, stream)) {
      points.insert(points.end(), shape.points.begin() + 3 * row, shape.points.begin() + 3 * (row + 1));
    }
  }
  return placed(std::move(points), shape);
}

float* ShapeSet::fill(const Shape& shape, float* to) const {
  const auto shrink = [&](auto& coordinates) {
    for (auto& x : coordinates) {
      x = static_cast<std::remove_reference_t<decltype(x)>>(x / options_.extent);
    }
  };
  const auto put = [&](const auto& cells) { return std::copy(cells.begin(), cells.end(), to); };
  if (options_.fill == VoxelFill::surface) {
    Mesh mesh = *shape.mesh;
    turn(std::span(mesh.vertices), rotation_of(shape));
    shrink(mesh.vertices);
    return put(voxelise(mesh, options_.voxels));
  }
  std::vector<float> points = taken(shape);
  shrink(points);
  return options_.fill == VoxelFill::points ? put(voxelise(points, options_.voxels))
                                            : put(point_density(points, options_.voxels, options_.sigma));
}

Batch ShapeSet::grids(std::span<const int64_t> indices) const {
  const int64_t n = options_.voxels;
  Tensor values = at::empty({std::ssize(indices), 1, n, n, n}, at::kFloat);
  auto* to = values.mutable_data_ptr<float>();
  for (const int64_t i : indices) {
    to = fill(shapes_.at(i), to);
  }
  Batch result;
  result.input = Grid{values, {side(), side(), side()}};
  return result;
}

Batch ShapeSet::clouds(std::span<const int64_t> indices, const Draw* draw) const {
  const CloudInput& input = options_.input;
  const int64_t nodes = tokens(0), count = std::ssize(indices);
  const int64_t width = channels_of(schema_.interface.features, Level::node, Kind::vector);
  Points points;
  points.positions = at::empty({count * nodes, 3}, at::kFloat);
  points.graphs = Segments::of_sizes(std::vector<int64_t>(count, nodes));
  auto* to = points.positions.mutable_data_ptr<float>();
  float* vectors = nullptr;
  if (width > 0) {
    points.vectors = at::empty({count * nodes, width, 3}, at::kFloat);
    vectors = points.vectors.mutable_data_ptr<float>();
  }
  for (const int64_t i : indices) {
    const Shape& shape = shapes_.at(i);
    std::optional<Stream> stream;
    if (draw != nullptr) {
      stream.emplace(
          draw->seed, "cloud",
          std::initializer_list<uint64_t>{static_cast<uint64_t>(draw->epoch), static_cast<uint64_t>(i)});
    }
    const auto chosen = stream && input.draws() ? drawn(shape, *stream) : taken(shape);
    const CloudView view =
        view_of({chosen.begin(), chosen.end()}, input, up_, rotation_of(shape), stream ? &*stream : nullptr);
    to = std::transform(view.positions.begin(), view.positions.end(), to,
                        [](double x) { return static_cast<float>(x); });
    if (vectors != nullptr) {
      put_vectors(view, 0, width, vectors);
      vectors += 3 * width * nodes;
    }
  }
  Batch result;
  result.input = std::move(points);
  return result;
}

Batch ShapeSet::labelled(Batch batch, std::span<const int64_t> indices) const {
  if (!schema_.labels.empty()) {
    Tensor labels = at::empty({std::ssize(indices), 1}, at::kLong);
    auto* to = labels.mutable_data_ptr<int64_t>();
    for (const int64_t i : indices) {
      *to++ = shapes_.at(i).label;
    }
    batch.labels["class"] = labels;
  }
  return batch;
}

}  // namespace weyl
