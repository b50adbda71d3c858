// Point clouds and meshes as one of the file formats (files/formats.h).
#include <filesystem>

#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/sets/modelnet.h"

namespace weyl {

bool ShapeFiles::takes(const std::string& path, const DataOptions&) {
  return (path.ends_with(".h5") || path.ends_with(".off")) && !std::filesystem::is_directory(path);
}

/// As the set's options say, else with all their points, and as points where the model is told of no feature.
std::shared_ptr<const Dataset> ShapeFiles::open(const OpenRequest& request) {
  if (const auto* chosen = std::get_if<ModelnetDataOptions>(&request.options.set)) {
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

NamedSets ShapeFiles::sets(const std::string& folder) {
  return is_modelnet_folder(folder) ? named_sets(open_modelnet({.path = folder, .points = 0, .classes = 0}))
                                    : NamedSets();
}

}  // namespace weyl
