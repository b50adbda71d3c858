// Point clouds as one of the file formats (files/formats.h).
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/sets/cloud_layout.h"
#include "weyl/data/sets/cloud_reader.h"
#include "weyl/data/sets/clouds.h"

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
  if (const auto* shapes = std::get_if<ModelnetDataOptions>(&request.options.set)) {
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
  if (!is_cloud_folder(folder)) {
    return {};
  }
  CloudsDataOptions o = as_they_are();
  o.path = folder;
  return named_sets(open_clouds(o, faults));
}

}  // namespace

/// Of the set `clouds` every file of such a name, and a folder of them alone; of others PLY, and arrays (.npz, HDF5) that have
/// positions by their usual names but are no frames of atoms.
bool CloudFiles::takes(const std::string& path, const DataOptions& options) {
  const bool asked = std::holds_alternative<CloudsDataOptions>(options.set);
  if (fs::is_directory(path)) {
    const bool split =
        fs::is_directory(fs::path(path) / "train") || fs::is_directory(fs::path(path) / "test");
    return asked && !split && is_flat_cloud_folder(path);
  }
  if (asked) {
    return is_cloud_file(path);
  }
  const bool digits = std::holds_alternative<RotatedMnistDataOptions>(options.set);
  const bool shapes = std::holds_alternative<ModelnetDataOptions>(options.set);
  return path.ends_with(".ply") ||
         (path.ends_with(".npz") && !digits && holds_clouds(path) && !FrameFiles::takes(path, options)) ||
         (is_hdf5(path) && !shapes && holds_clouds(path));
}

std::shared_ptr<const Dataset> CloudFiles::open(const OpenRequest& request) {
  const auto* chosen = std::get_if<CloudsDataOptions>(&request.options.set);
  auto set = open_cloud_files(request.path, chosen != nullptr ? *chosen : as_they_are(request));
  require_features(request, set->schema());
  return set;
}

NamedSets CloudFiles::sets(const std::string& folder) {
  return sets_of(folder, nullptr);
}

NamedSets CloudFiles::sound_sets(const std::string& folder, std::vector<std::string>& faults) {
  return sets_of(folder, &faults);
}

}  // namespace weyl
