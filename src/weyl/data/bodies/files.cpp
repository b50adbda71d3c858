// Rigid bodies in motion as one of the file formats.
#include "weyl/data/bodies/files.h"

#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/bodies/options.h"
#include "weyl/data/bodies/rigid_bodies.h"
#include "weyl/data/bodies/rigid_scenes.h"

namespace weyl {

bool RigidBodyFiles::takes(const std::string& path, AskedSet) {
  return tensor_file_format(path) == rigid_scenes_format;
}

bool RigidBodyFiles::lays_out(const std::string& folder) {
  return tensor_folder_format(folder) == rigid_scenes_format;
}

NamedSets RigidBodyFiles::sets(const std::string& folder) {
  return tensor_file_sets(
      folder, [](const std::string& file) { return open(OpenRequest{.path = file, .values = Values::any}); });
}

std::shared_ptr<const Dataset> RigidBodyFiles::open(const OpenRequest& request) {
  const auto* rigid = request.asked.get_if<RigidBodiesDataOptions>();
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
