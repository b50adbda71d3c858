// Point clouds as one of the file formats (formats.h).
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/atoms/files.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/clouds/cloud_layout.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/clouds.h"
#include "weyl/data/clouds/files.h"
#include "weyl/data/clouds/lidar_scan.h"
#include "weyl/data/clouds/modelnet.h"
#include "weyl/data/clouds/point_text.h"
#include "weyl/data/images/options.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Of files that no set of clouds speaks for: all points where they are.
CloudsDataOptions as_they_are() {
  CloudsDataOptions o;
  o.points = 0;
  o.fit = false;
  return o;
}

/// The same with what a model is told of: features of the files, and what a set of shapes makes of the points.
CloudsDataOptions as_they_are(const OpenRequest& request) {
  CloudsDataOptions o = as_they_are();
  if (const auto* shapes = request.asked.get_if<ModelnetDataOptions>()) {
    o.input = shapes->input;
    o.input.augment.reset();
    o.points = shapes->points;
    o.seed = shapes->seed;
    o.fit = shapes->fit;
    require<ConfigError>(shapes->up || !o.input.knows_up(), request.path,
                         ": data.modelnet.up must say which of its axes is upwards");
    o.up = shapes->up.value_or(o.up);
  }
  const std::vector<Quantity> made = features_of(o.input);
  for (const Quantity& q : request.interface == nullptr ? made : request.interface->features) {
    if (find_quantity(made, q.name) != nullptr) {
      continue;
    }
    const bool vector = q.kind == Kind::vector;
    o.features.push_back({q.name,
                          !vector                  ? CloudFeatureKind::scalar
                          : q.role == Role::normal ? CloudFeatureKind::normal
                                                   : CloudFeatureKind::vector,
                          vector ? 1 : q.channels});
  }
  return o;
}

NamedSets sets_of(const std::string& folder, std::vector<std::string>* faults) {
  CloudsDataOptions o = as_they_are();
  o.path = folder;
  return named_sets(open_set(o, faults));
}

/// PLY, PCD, LAS, OFF and scans alone, which say no classes: what is missing is said of them. (Of text nobody knows what it is.)
bool is_folder_of_plain_clouds(const std::string& path) {
  return is_flat_cloud_folder(path) && std::ranges::all_of(clouds_in(path), [](const std::string& file) {
           return file.ends_with(".ply") || file.ends_with(".pcd") || file.ends_with(".las") ||
                  file.ends_with(".off") || (file.ends_with(".bin") && looks_like_lidar_scan(file));
         });
}

}  // namespace

/// Of the set `clouds` every file of such a name, and a folder of them alone; of others PLY, PCD, LAS, scans, arrays (.npz, HDF5) that have
/// positions by their usual names but are no frames of atoms, and text whose first line is the number of its points.
bool CloudFiles::takes(const std::string& path, AskedSet asked) {
  if (fs::is_directory(path)) {
    return asked.is<CloudsDataOptions>() ? is_flat_cloud_folder(path)
                                         : is_folder_of_plain_clouds(path) && !FrameFiles::takes(path, asked);
  }
  if (asked.is<CloudsDataOptions>()) {
    return is_cloud_file(path);
  }
  const bool digits = asked.is<RotatedMnistDataOptions>();
  const bool shapes = asked.is<ModelnetDataOptions>();
  return path.ends_with(".ply") || path.ends_with(".pcd") || path.ends_with(".las") ||
         (path.ends_with(".bin") && looks_like_lidar_scan(path)) ||
         (path.ends_with(".npz") && !digits && holds_clouds(path) && !FrameFiles::takes(path, asked)) ||
         (is_hdf5(path) && !shapes && holds_clouds(path)) ||
         (is_cloud_text(path) && counts_points(path) && !FrameFiles::takes(path, asked));
}

std::shared_ptr<const Dataset> CloudFiles::open(const OpenRequest& request) {
  const auto* chosen = request.asked.get_if<CloudsDataOptions>();
  auto set = open_cloud_files(request.path, chosen != nullptr ? *chosen : as_they_are(request));
  require_features(request, set->schema());
  return set;
}

/// What frames or tensor files lie in is theirs, whatever stands beside them.
bool CloudFiles::lays_out(const std::string& folder) {
  return !FrameFiles::takes(folder, {}) && !is_tensor_folder(folder) && is_cloud_folder(folder);
}

NamedSets CloudFiles::sets(const std::string& folder) {
  return sets_of(folder, nullptr);
}

NamedSets CloudFiles::sound_sets(const std::string& folder, std::vector<std::string>& faults) {
  return sets_of(folder, &faults);
}

// Point clouds and meshes as one of the file formats (formats.h).

bool ShapeFiles::takes(const std::string& path, AskedSet) {
  return (path.ends_with(".h5") || path.ends_with(".off")) && !std::filesystem::is_directory(path);
}

/// As the set's options say, else with all their points, and as points where the model is told of no feature.
std::shared_ptr<const Dataset> ShapeFiles::open(const OpenRequest& request) {
  if (const auto* chosen = request.asked.get_if<ModelnetDataOptions>()) {
    return open_modelnet_file(request.path, *chosen);
  }
  ModelnetDataOptions o;
  o.classes = 0;
  o.points = 0;
  if (request.interface != nullptr && request.interface->features.empty()) {
    o.carrier = ShapeCarrier::points;
  }
  return open_modelnet_file(request.path, o);
}

bool ShapeFiles::lays_out(const std::string& folder) {
  return is_modelnet_folder(folder);
}

NamedSets ShapeFiles::sets(const std::string& folder) {
  return named_sets(open_set(ModelnetDataOptions{.path = folder, .points = 0, .classes = 0}));
}

}  // namespace weyl
