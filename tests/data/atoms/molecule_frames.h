#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/array.h"

namespace weyl {

inline const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

using Texts = std::vector<std::string>;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

inline std::vector<AtomsFrame> frames_of(FrameReader& reader) {
  std::vector<AtomsFrame> frames;
  for (AtomsFrame frame; reader.next(frame);) {
    check_frame(frame, "test");
    frames.push_back(frame);
  }
  return frames;
}

inline std::vector<AtomsFrame> read(const std::string& path) {
  return frames_of(*open_frames(path));
}

inline double real(const AtomsFrame& frame, std::string_view name) {
  const auto* value = frame.value(name);
  EXPECT_NE(value, nullptr) << name;
  return value == nullptr ? NAN : reals_of(value->values).value_or(Reals{NAN}).at(0);
}

inline std::string words(const AtomsFrame& frame, std::string_view name) {
  const auto* value = frame.value(name);
  return value == nullptr ? "absent" : std::get<Texts>(value->values).at(0);
}

}  // namespace weyl
