#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// Point clouds (clouds/clouds.h). A path that the name of another format fits as well belongs to that format, unless
/// the set `clouds` is asked for.
struct CloudFiles {
  static constexpr const char* holds = "point clouds";
  static std::string names() { return ".ply, .pcd, .las, .npz"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static NamedSets sound_sets(const std::string& folder, std::vector<std::string>& faults);
  static FoundData draft(const std::string& path);
};

/// Point clouds and meshes (clouds/modelnet.h).
struct ShapeFiles {
  static constexpr const char* holds = "shapes";
  static std::string names() { return ".h5, .off"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr const char* set_of_files = "a folder with a folder of shapes for each class";
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
