#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/base/file_format.h"

namespace weyl {

struct FrameInspection;  // inspect_frames.h
/// Takes what was found in frames, split by split.
using FrameReport = std::function<void(const std::string& split, const FrameInspection& found)>;

/// Frames of atoms; their formats have a table of their own (atoms/frame_reader.cpp).
struct FrameFiles {
  static constexpr const char* holds = "frames of atoms";
  static std::string names() { return frame_format_names(); }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static void inspect(const std::string& path, const FrameReport& report);
  static constexpr const char* converts_to = ".xyz, .extxyz (or .gz of them) or .npz";
  using ConvertOptions = FrameConvertOptions;
  static bool converts(const std::string& in, const std::string& out, const OptionTexts& options);
  static Converted convert(const std::string& in, const std::string& out, const FrameConvertOptions& options);
  static constexpr const char* splits_into = ".extxyz";
  static SplitIndices split(const std::string& path, const std::string& folder, const SplitOptions& options,
                            const FrameConvertOptions& conversion);
  static bool lays_out(const std::string& folder);
  static FoundData draft(const std::string& path);
};

}  // namespace weyl
