#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// Rigid bodies in motion, as `weyl data make rigid_bodies` writes them (bodies/rigid_bodies.h); split by scenes.
struct RigidBodyFiles {
  static constexpr const char* holds = "rigid bodies";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
