#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {

inline const std::string xyz_fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

inline std::vector<AtomsFrame> xyz_frames_of(FrameReader& reader) {
  std::vector<AtomsFrame> frames;
  for (AtomsFrame frame; reader.next(frame);) {
    frames.push_back(frame);
  }
  return frames;
}

inline std::vector<AtomsFrame> parse(std::string_view file) {
  ExtendedXyzReader reader(bytes_of(std::as_bytes(std::span(file)), "x.xyz"), "x.xyz");
  return xyz_frames_of(reader);
}

inline std::vector<AtomsFrame> read_xyz(const std::string& path) {
  ExtendedXyzReader reader(path);
  return xyz_frames_of(reader);
}

template <class T>
std::vector<T> values(const FrameValues& v) {
  const auto* found = std::get_if<std::vector<T>>(&v);
  EXPECT_NE(found, nullptr) << "holds another type, " << v.index();
  return found == nullptr ? std::vector<T>{} : *found;
}

using Texts = std::vector<std::string>;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;
using Logicals = std::vector<uint8_t>;
using Shape = std::vector<int64_t>;

}  // namespace weyl
