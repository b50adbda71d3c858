#include "weyl/data/sets/modelnet.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/formats/off.h"
#include "weyl/data/formats/point_clouds.h"
#include "weyl/data/sets/class_names.h"
#include "weyl/data/sets/modelnet_files.h"
#include "weyl/data/sets/shape_set.h"
#include "weyl/data/sets/take_samples.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {
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
    to.push_back({{begin, begin + kept * 3}, nullptr, clouds.labels[s], "", to.size()});
    if (o.fit && !draws) {  // else those that are drawn
      fit_into_ball(std::span(to.back().points));
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
    shape.points = sample_surface(mesh, o.points, stream);
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

Schema modelnet_schema(const ModelnetDataOptions& o) {
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
  }
  schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = o.classes}};
  return schema;
}

bool is_modelnet_folder(const std::string& path) {
  return !ModelnetFiles(path).empty() || has_meshes(path);
}

Splits open_modelnet(const ModelnetDataOptions& options) {
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
