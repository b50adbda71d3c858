// What a stream keeps of its frames is read as it was written, and broken files are refused.
#include "weyl/data/atoms/frame_index.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/refusals.h"
#include "weyl/core/temporary_folder.h"

namespace weyl {
namespace frame_index_test {

FrameIndex example() {
  FrameIndex index;
  index.sizes = {4, 1, 5};
  index.places = {{0, 0}, {40, 7}, {uint64_t{3} << 48U, 9}};
  index.states = {{0, 2, 1}, {3, 3, 0}};
  index.isolated = {1};
  index.common.labels = {"energy"};
  index.common.keys = {{"energy", "E \"total\""}, {"forces", "f"}};
  index.common.left_out = {{"forces", "f in 2 of 3 frames"}};
  index.common.unread = {"x", "\xc3\xa9"};
  index.common.warnings = {"a line"};
  index.common.config_types = {"", "bulk"};
  index.common.typical_nodes = 10.0 / 3;
  index.common.periodic = true;
  return index;
}

TEST(FrameIndex, IsReadAsItWasWritten) {
  const TemporaryFolder folder("test");
  const PreparedFile file(folder / "index.safetensors", "key");
  for (const bool places : {true, false}) {
    FrameIndex index = example();
    if (!places) {
      index.places.clear();
      index.isolated.clear();
      index.common.periodic = false;
    }
    ASSERT_EQ(write_index(file, index), "");
    const auto found = file.open();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(read_index(*found, {3, 4}), index);
    EXPECT_THROW(read_index(*found, {2, 4}), DataError);  // a state has no channel 2
    EXPECT_THROW(read_index(*found, {3, 4, 1}), DataError);
  }
}

TEST(FrameIndex, WhatWouldComeBackAsAnotherIsNotKept) {
  const TemporaryFolder folder("test");
  const PreparedFile file(folder / "index.safetensors", "key");
  FrameIndex index = example();
  index.common.keys["energy"] = "\xff";
  EXPECT_EQ(write_index(file, index), "a name in the frames is no UTF-8");
  EXPECT_EQ(file.open(), nullptr);
}

TEST(FrameIndex, BrokenFilesAreRefused) {
  expect_refusals("frame_index",
                  {
                      {"common_no_json", "frames_in_common: must be valid JSON, line 1, column 2"},
                      {"common_no_labels", "frames_in_common: 'labels' is missing"},
                      {"cut", "bytes of data, got"},
                      {"isolated_beyond", "'isolated' must ascend from 0 to 2"},
                      {"isolated_negative", "'isolated' must ascend from 0 to 2"},
                      {"isolated_twice", "'isolated' must ascend from 0 to 2"},
                      {"keys_a_list", "'keys' must be an object"},
                      {"label_a_number", "must be a string, got 1"},
                      {"many_nodes", "'typical_nodes' must be positive"},
                      {"no_common", "'frames_in_common' is missing"},
                      {"no_isolated", "'isolated'"},
                      {"no_nodes", "'typical_nodes' must be positive"},
                      {"no_sizes", "'sizes'"},
                      {"no_state", "'state_0'"},
                      {"places_alone", "'places' must be of type U64 with 2 numbers for each of 3 samples"},
                      {"places_of_two", "'places' must be of type U64 with 2 numbers for each of 3 samples"},
                      {"size_zero", "'sizes' must be positive"},
                      {"sizes_in_rows", "'sizes' must be of type U32 with a number for each sample"},
                      {"sizes_of_i64", "'sizes' must be of type U32 with a number for each sample"},
                      {"state_beyond", "'state_0' must be below 3"},
                  },
                  [](const std::string& path) { read_index(SafetensorsFile(path), {3}); });
}

}  // namespace frame_index_test
}  // namespace weyl
