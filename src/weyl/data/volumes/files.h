#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// Volumes of images (volumes/decathlon.h): one, a folder of them, or a set with masks (volumes/volume_index.h).
struct VolumeFiles {
  static constexpr const char* holds = "volumes";
  static std::string names() { return ".nii, .nii.gz, .mha, .nrrd"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static NamedSets sound_sets(const std::string& folder, std::vector<std::string>& faults);
  static void require_index(const std::string& folder);
  static constexpr const char* set_of_files =
      "a folder with dataset.json, images/ beside masks/, or a folder a case, which has the masks";
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
