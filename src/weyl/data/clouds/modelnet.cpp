#include "weyl/data/clouds/modelnet.h"

#include <ATen/ops/empty.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/base/class_names.h"
#include "weyl/data/clouds/cloud_view.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/modelnet_files.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/data/clouds/voxels.h"

namespace weyl {

ShapeSet::ShapeSet(std::vector<Shape> shapes, const ModelnetDataOptions& options, std::string split, int up,
                   std::vector<std::string> names)
    : shapes_(std::move(shapes)), options_(options), split_(std::move(split)), up_(up) {
  schema_ = declared_schema(options_);
  if (std::any_of(shapes_.begin(), shapes_.end(), [](const Shape& s) { return s.label < 0; })) {
    schema_.labels.clear();
  }
  if (!names.empty()) {
    schema_.category_names["class"] = std::move(names);
  }
  const bool training = split_ == "train";
  bool choice = options_.input.centres > 0;
  for (Shape& shape : shapes_) {
    choice = choice || shape.mesh != nullptr || std::ssize(shape.all.points) > 3 * options_.points;
    if (!training) {  // which alone draws among all of its points
      shape.all.points.resize(3 * options_.points);
      shape.all.points.shrink_to_fit();
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
  return made(indices, nullptr);
}

Batch ShapeSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& draw) const {
  return made(indices, options_.input.augment ? &draw : nullptr);
}

Batch ShapeSet::made(std::span<const int64_t> indices, const Draw* draw) const {
  return labelled(options_.carrier == ShapeCarrier::grid ? grids(indices, draw) : clouds(indices, draw),
                  indices);
}

std::optional<Stream> ShapeSet::stream_of(int64_t index, const Draw* draw) const {
  if (draw == nullptr) {
    return {};
  }
  return Stream(draw->seed, "cloud", {static_cast<uint64_t>(draw->epoch), static_cast<uint64_t>(index)});
}

Rotation ShapeSet::rotation_of(const Shape& shape) const {
  Stream stream(static_cast<uint64_t>(options_.seed), "modelnet rotation " + split_, {shape.number});
  return draw_rotation(split_ == "test" ? options_.rotate : options_.rotate_train, up_, stream);
}

PointsOfShape ShapeSet::placed(PointsOfShape found, const Shape& shape) const {
  if (options_.fit && !shape.fitted) {
    fit_into_ball(std::span(found.points));
  }
  const Rotation rotation = rotation_of(shape);
  turn(std::span(found.points), rotation);
  turn(std::span(found.normals), rotation);
  return found;
}

PointsOfShape ShapeSet::taken(const Shape& shape) const {
  const auto first = [&](const std::vector<float>& all) {
    return std::vector<float>(all.begin(), all.begin() + (all.empty() ? 0 : 3 * options_.points));
  };
  return placed({first(shape.all.points), first(shape.all.normals)}, shape);
}

PointsOfShape ShapeSet::drawn(const Shape& shape, Stream& stream) const {
  PointsOfShape found;
  if (shape.mesh != nullptr) {
    found.points =
        sample_surface(*shape.mesh, options_.points, stream, options_.normals ? &found.normals : nullptr);
  } else {
    const std::vector<float>& all = shape.all.points;  // of a file without a surface
    for (const int64_t row : draw_rows(std::ssize(all) / 3, options_.points, stream)) {
      found.points.insert(found.points.end(), all.begin() + 3 * row, all.begin() + 3 * (row + 1));
    }
  }
  return placed(std::move(found), shape);
}

float* ShapeSet::fill(const Shape& shape, Stream* stream, const Change& change, float* to) const {
  const auto place = [&](auto& coordinates) {
    std::vector<double> places(coordinates.begin(), coordinates.end());
    change(places);
    std::ranges::transform(places, coordinates.begin(), [&](double x) {
      return static_cast<std::remove_reference_t<decltype(coordinates[0])>>(x / options_.extent);
    });
  };
  const auto put = [&](const auto& cells) { return std::copy(cells.begin(), cells.end(), to); };
  if (options_.fill == VoxelFill::surface) {
    Mesh mesh = *shape.mesh;
    turn(std::span(mesh.vertices), rotation_of(shape));
    place(mesh.vertices);
    return put(voxelise(mesh, options_.voxels));
  }
  std::vector<float> points = (stream != nullptr ? drawn(shape, *stream) : taken(shape)).points;
  place(points);
  return options_.fill == VoxelFill::points ? put(voxelise(points, options_.voxels))
                                            : put(point_density(points, options_.voxels, options_.sigma));
}

Tensor ShapeSet::empty_cells(int64_t count) const {
  const int64_t n = options_.voxels;
  return at::empty({count, 1, n, n, n}, at::kFloat);
}

Batch ShapeSet::as_grids(Tensor cells) const {
  Batch result;
  result.input = Grid{std::move(cells), {side(), side(), side()}};
  return result;
}

Batch ShapeSet::grids(std::span<const int64_t> indices, const Draw* draw) const {
  Tensor values = empty_cells(std::ssize(indices));
  auto* to = values.mutable_data_ptr<float>();
  for (const int64_t i : indices) {
    std::optional<Stream> stream = stream_of(i, draw);
    // Shapes are changed before they become cells, which no change of the cells could do as well.
    const Change change = [&](std::vector<double>& places) {
      if (stream) {
        augment(places, *options_.input.augment, up_, *stream);
      }
    };
    to = fill(shapes_.at(i), stream && options_.input.draws() ? &*stream : nullptr, change, to);
  }
  return as_grids(std::move(values));
}

std::optional<Batch> ShapeSet::made_anew(std::span<const int64_t> indices,
                                         std::span<const Placement> by) const {
  if (options_.carrier != ShapeCarrier::grid) {
    return {};
  }
  require(indices.size() == by.size(), "made_anew: there must be a placement for each of the ",
          indices.size(), " samples, got ", by.size());
  Tensor values = empty_cells(std::ssize(indices));
  auto* to = values.mutable_data_ptr<float>();
  for (size_t k = 0; k < indices.size(); ++k) {
    const Change change = [&](std::vector<double>& places) {
      turn(std::span(places), by[k].rotation);
      for (size_t i = 0; i < places.size(); ++i) {
        places[i] += by[k].shift[i % 3] * side();
      }
    };
    to = fill(shapes_.at(indices[k]), nullptr, change, to);
  }
  return labelled(as_grids(std::move(values)), indices);
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
  float* numbers = nullptr;
  if (input.moments()) {
    points.scalars = at::empty({count * nodes, moment_numbers}, at::kFloat);
    numbers = points.scalars.mutable_data_ptr<float>();
  }
  for (const int64_t i : indices) {
    const Shape& shape = shapes_.at(i);
    std::optional<Stream> stream = stream_of(i, draw);
    PointsOfShape chosen = stream && input.draws() ? drawn(shape, *stream) : taken(shape);
    const CloudView view = view_of({chosen.points.begin(), chosen.points.end()}, input, up_,
                                   rotation_of(shape), stream ? &*stream : nullptr);
    to = std::transform(view.positions.begin(), view.positions.end(), to,
                        [](double x) { return static_cast<float>(x); });
    if (numbers != nullptr) {
      put_numbers(view, 0, moment_numbers, numbers);
      numbers += moment_numbers * nodes;
    }
    if (vectors != nullptr) {
      put_vectors(view, 0, width, vectors);
      if (options_.normals) {  // the last
        turn(std::span(chosen.normals), view.turned);
        for (int64_t m = 0; m < nodes; ++m) {
          std::copy_n(chosen.normals.begin() + 3 * view.rows[static_cast<size_t>(m)], 3,
                      vectors + 3 * (width * (m + 1) - 1));
        }
      }
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

namespace {

namespace fs = std::filesystem;

constexpr int64_t kModelnetPoints = 2048;  // that ModelNet's HDF5 files have

/// Files of a folder by name: those that begin and end so.
std::vector<std::string> files_named(const fs::path& folder, std::string_view begin, std::string_view end) {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(end) && !name.starts_with(".") && entry.is_regular_file()) {
      result.push_back(entry.path().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// A sample must have more points than centres and neighbours; where the options do not count them, files do.
void require_room(const ModelnetDataOptions& o, const std::string& path) {
  const int64_t most = std::max(o.input.centres, o.input.neighbours);
  require<DataError>(most < o.points, path, ": data.modelnet.",
                     o.input.centres == most ? "centres" : "neighbours", " must be less than ", o.points,
                     ", the points of a sample, got ", most);
}

void add_clouds(std::vector<Shape>& to, const std::string& path, ModelnetDataOptions& o) {
  const PointClouds clouds = read_point_clouds(path, static_cast<uint64_t>(o.limit) << 20U);
  require<ConfigError>(o.fill != VoxelFill::surface, path,
                       ": data.modelnet.fill must be points or density, HDF5 files have no surface");
  require<ConfigError>(!o.normals, path, ": data.modelnet.normals must be false, HDF5 files have no surface");
  const int64_t points = o.points > 0 ? o.points : clouds.points;
  require<DataError>(points <= clouds.points, path, ": data.modelnet.points must be at most ", clouds.points,
                     ", the points that a sample has, got ", points);
  o.points = points;
  require_room(o, path);
  const bool draws = o.input.draws();
  const int64_t kept = draws ? clouds.points : points;
  for (int64_t s = 0; s < clouds.count(); ++s) {
    const auto* begin = clouds.positions.data() + s * clouds.points * 3;
    require<DataError>(clouds.labels[s] >= 0 && (o.classes == 0 || clouds.labels[s] < o.classes), path,
                       ": labels must be 0 .. ", o.classes - 1, " (data.modelnet.classes), sample ", s,
                       " has ", clouds.labels[s]);
    to.push_back({{{begin, begin + kept * 3}, {}}, nullptr, clouds.labels[s], "", to.size()});
    if (o.fit && !draws) {  // else those that are drawn
      fit_into_ball(std::span(to.back().all.points));
      to.back().fitted = true;
    }
  }
}

void add_mesh(std::vector<Shape>& to, const std::string& path, int64_t label, const std::string& split,
              ModelnetDataOptions& o) {
  Mesh mesh = read_off(path);
  fit_into_ball(std::span(mesh.vertices));
  o.points = o.points > 0 ? o.points : kModelnetPoints;
  require_room(o, path);
  Stream stream(static_cast<uint64_t>(o.seed), "modelnet surface " + split, {to.size()});
  Shape shape{{}, nullptr, label, path, to.size(), true};
  try {
    shape.all.points = sample_surface(mesh, o.points, stream, o.normals ? &shape.all.normals : nullptr);
  } catch (const ShapeError& error) {
    throw DataError(path + ": " + error.what());
  }
  if (o.fill == VoxelFill::surface || o.input.draws()) {
    shape.mesh = std::make_shared<Mesh>(std::move(mesh));
  }
  to.push_back(std::move(shape));
}

/// Folders of classes, by name.
std::vector<std::string> mesh_class_folders(const std::string& path) {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path, failure)) {
    if (entry.is_directory() &&
        (fs::is_directory(entry.path() / "train") || fs::is_directory(entry.path() / "test"))) {
      result.push_back(entry.path().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> mesh_class_names(const ModelnetDataOptions& o) {
  std::vector<std::string> names;
  for (const auto& folder : mesh_class_folders(o.path)) {
    names.push_back(fs::path(folder).filename().string());
  }
  return classes_of(std::move(names), o.known_classes);
}

bool has_meshes(const std::string& path) {
  for (const auto& folder : mesh_class_folders(path)) {
    for (const char* split : {"train", "test"}) {
      if (!files_named(fs::path(folder) / split, "", ".off").empty()) {
        return true;
      }
    }
  }
  return false;
}

/// All samples of one split of the files.
std::vector<Shape> read_split(const std::string& split, ModelnetDataOptions& o, const ModelnetFiles& files) {
  std::vector<Shape> shapes;
  if (!files.empty()) {
    for (const auto& file : files.of(split, o.variant)) {
      add_clouds(shapes, file, o);
    }
    return shapes;
  }
  const auto names = mesh_class_names(o);
  o.classes = o.classes > 0 ? o.classes : std::ssize(names);
  if (std::ssize(names) != o.classes) {
    require_known(names, o.known_classes, o.path);
  }
  require<DataError>(std::ssize(names) == o.classes, o.path, ": data.modelnet.classes must be ", names.size(),
                     ", the folders of classes there are, got ", o.classes);
  for (size_t k = 0; k < names.size(); ++k) {
    for (const auto& file : files_named(fs::path(o.path) / names[k] / split, "", ".off")) {
      add_mesh(shapes, file, static_cast<int64_t>(k), split, o);
    }
  }
  return shapes;
}

/// In the order first of all classes, second of all classes, ...: any beginning holds them evenly.
void take_turns(std::vector<Shape>& shapes) {
  std::map<int64_t, int64_t> met;
  std::vector<std::pair<int64_t, Shape>> ranked;
  for (Shape& shape : shapes) {
    ranked.emplace_back(met[shape.label]++, std::move(shape));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i] = std::move(ranked[i].second);
  }
}

int64_t classes_shown(const std::vector<Shape>& shapes) {
  int64_t most = 0;
  for (const Shape& s : shapes) {
    most = std::max(most, s.label);
  }
  return most + 1;
}

int up_of(const ModelnetDataOptions& o, bool meshes) {
  return o.up ? static_cast<int>(*o.up) : meshes ? 2 : 1;
}

}  // namespace

int upward_axis(const ModelnetDataOptions& o) {
  return up_of(o, fs::is_directory(o.path) ? ModelnetFiles(o.path).empty() : !is_hdf5(o.path));
}

Schema declared_schema(const ModelnetDataOptions& o) {
  require<ConfigError>(o.classes > 0, "data.modelnet.classes: must be given where no files show them, got ",
                       o.classes);
  Schema schema;
  const bool grid = o.carrier == ShapeCarrier::grid;
  schema.interface.grid = grid;
  const auto nodes = grid ? o.voxels * o.voxels * o.voxels : o.points > 0 ? o.points : kModelnetPoints;
  schema.interface.typical_nodes = static_cast<double>(grid ? nodes : o.input.nodes(nodes));
  if (grid) {
    schema.interface.features = {{.name = o.fill == VoxelFill::density ? "density" : "occupancy"}};
  } else {
    schema.interface.features = features_of(o.input);
    if (o.normals) {
      schema.interface.features.push_back({.name = "normals", .kind = Kind::vector, .role = Role::normal});
    }
  }
  schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = o.classes}};
  return schema;
}

bool is_modelnet_folder(const std::string& path) {
  return !ModelnetFiles(path).empty() || has_meshes(path);
}

Splits open_set(const ModelnetDataOptions& options) {
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; make one with `weyl data make solids --out ", options.path,
                     "`");
  require<DataError>(
      is_modelnet_folder(options.path), options.path,
      ": holds neither train*.h5 and test*.h5 nor CLASS/train/*.off and CLASS/test/*.off; make "
      "them with `weyl data make solids --out ",
      options.path, "`");
  ModelnetDataOptions o = options;
  const ModelnetFiles files(o.path);
  const bool meshes = files.empty();
  require<DataError>(!meshes || o.variant.empty(), o.path,
                     ": data.modelnet.variant is of HDF5 files, there are none, got ", quote(o.variant));
  files.require_variant(o.variant);
  std::vector<Shape> train = read_split("train", o, files);
  std::vector<Shape> valid = meshes ? std::vector<Shape>() : read_split("val", o, files);
  std::vector<Shape> test = read_split("test", o, files);
  if (o.classes == 0) {
    o.classes = std::max({classes_shown(train), classes_shown(valid), classes_shown(test)});
  }
  if (valid.empty() && !train.empty()) {
    valid = draw_validation(train, o.valid, o.seed, o.path + ": data.modelnet");
  } else {
    keep_first(valid, o.valid, o.path + ": data.modelnet.valid");
  }
  if (meshes && o.train > 0) {
    take_turns(train);
  }
  if (meshes && o.test > 0) {
    take_turns(test);
  }
  keep_first(train, o.train, o.path + ": data.modelnet.train");
  keep_first(test, o.test, o.path + ": data.modelnet.test");
  const int up = up_of(o, meshes);
  const std::vector<std::string> names = meshes ? mesh_class_names(o) : std::vector<std::string>();
  const auto set = [&](std::vector<Shape> shapes, const char* split) -> std::shared_ptr<const Dataset> {
    return shapes.empty() ? nullptr : std::make_shared<ShapeSet>(std::move(shapes), o, split, up, names);
  };
  return {set(std::move(train), "train"), set(std::move(valid), "valid"), set(std::move(test), "test")};
}

std::shared_ptr<const Dataset> open_modelnet_file(const std::string& path,
                                                  const ModelnetDataOptions& options) {
  ModelnetDataOptions o = options;
  std::vector<Shape> shapes;
  const bool mesh = path.ends_with(".off");
  if (mesh) {
    add_mesh(shapes, path, -1, "test", o);
    o.classes = std::max<int64_t>(o.classes, 1);
  } else {
    add_clouds(shapes, path, o);
    o.classes = o.classes > 0 ? o.classes : classes_shown(shapes);
  }
  return std::make_shared<ShapeSet>(std::move(shapes), o, "test", up_of(o, mesh));
}

}  // namespace weyl
