#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// Volumes of images (volumes/decathlon.h): one, a folder of them, or a set with its dataset.json.
struct VolumeFiles {
  static constexpr const char* holds = "volumes";
  static std::string names() { return ".nii, .nii.gz"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static void require_index(const std::string& folder);
  static constexpr const char* set_of_files = "a folder of volumes with dataset.json, which names the masks";
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
