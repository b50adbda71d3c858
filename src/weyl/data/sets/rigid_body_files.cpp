// Rigid bodies in motion as one of the file formats (files/formats.h).
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/files/split.h"
#include "weyl/data/formats/rigid_scenes.h"
#include "weyl/data/sets/rigid_bodies.h"

namespace weyl {

bool RigidBodyFiles::takes(const std::string& path, const DataOptions& options) {
  if (!TensorFiles::takes(path, options)) {
    return false;
  }
  const SafetensorsFile file(path);
  const auto format = file.header().metadata.find("format");
  return format != file.header().metadata.end() && format->second == rigid_scenes_format;
}

std::shared_ptr<const Dataset> RigidBodyFiles::open(const OpenRequest& request) {
  const auto* rigid = std::get_if<RigidBodiesDataOptions>(&request.options.set);
  RigidBodiesDataOptions chosen = rigid ? *rigid : RigidBodiesDataOptions{};
  if (request.interface != nullptr) {  // the model decides whether it is told of the floor
    chosen.floor = find_quantity(request.interface->features, "height") != nullptr;
  }
  auto set = open_rigid_bodies_file(request.path, chosen, false);
  require_features(request, set->schema());
  return set;
}

SplitIndices RigidBodyFiles::split(const std::string& path, const std::string& folder,
                                   const SplitOptions& options) {
  const RigidScenesFile file(path);
  auto metadata = file.metadata();
  metadata.erase("split");
  metadata.merge(split_metadata(path, options));
  return write_parts(
      folder, options, file.scenes(), [&](const std::string& out, const std::vector<int64_t>& samples) {
        RigidScenes part{.frames = file.frames(), .interval = file.interval(), .shapes = file.shapes()};
        for (const int64_t scene : samples) {
          part.add(file.scene(scene));
        }
        write_rigid_scenes(out, part, metadata, Existing::keep);
      });
}

}  // namespace weyl
