#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// The metadata `format` in the files that `weyl data make nbody` writes.
constexpr const char* nbody_format = "weyl.nbody";

/// Particles in motion, as `weyl data make nbody` writes them (particles/nbody.h).
struct NbodyFiles {
  static constexpr const char* holds = "particles";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static FoundData draft(const std::string& path);
};

/// The original files of particles in motion (particles/nbody.h).
struct NbodyOriginals {
  static constexpr const char* holds = "original N-body files";
  static std::string names() { return "folder of .npy"; }
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr const char* converts_to = "a folder";
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out);
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
