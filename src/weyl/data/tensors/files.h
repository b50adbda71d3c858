#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"
#include "weyl/data/tensors/options.h"

namespace weyl {

/// Predictions, as `weyl predict` writes them (saved/tensors.h): outputs alone.
struct PredictionFiles {
  static constexpr const char* holds = "predictions";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, AskedSet asked);
  static void inspect(const std::string& path, const InspectionReport& report);
};

/// Carrier tensor files (carriers/tensor_format.h).
struct TensorFiles {
  static constexpr const char* holds = "tensors";
  static std::string names() { return ".safetensors"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr const char* converts_to = ".npz";
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out);  // any tensors, array by array
  static constexpr const char* splits_into = ".safetensors";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options);
  static FoundData draft(const std::string& path);
};

/// Arrays by name, of unknown meaning but for what a carrier tensor file tells beside its tensors.
struct ArrayArchives {
  static constexpr const char* holds = "arrays";
  static std::string names() { return ".npz"; }
  static constexpr const char* converts_to = ".safetensors";
  using ConvertOptions = ArrayConvertOptions;
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  /// Array by array. ConfigError: an option says other than the archive, or poses are of no group.
  static Converted convert(const std::string& in, const std::string& out, const ArrayConvertOptions& options);
};

}  // namespace weyl
