#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"
#include "weyl/data/poses/options.h"

namespace weyl {

struct Schema;

/// Trajectories of a rigid body as text (poses/pose_file.h).
struct PoseFiles {
  static constexpr const char* holds = "poses";
  static std::string names() { return ".txt, .csv, .tum, .kitti"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* converts_to = ".safetensors";
  using ConvertOptions = PoseFileOptions;
  /// Converts a file of any name when the options say its format.
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out, const PoseFileOptions& options);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static FoundData draft(const std::string& path);
};

/// The only trajectory in a folder or below it. Empty: there is none. ConfigError: there are several.
std::string trajectory_in(const std::string& folder);

/// What a config says for a folder of sequences with a missing pose, whose files have this schema. ConfigError: the
/// files lack the labels.
FoundData draft_pose_sequences(const std::string& path, const Schema& schema);

}  // namespace weyl
