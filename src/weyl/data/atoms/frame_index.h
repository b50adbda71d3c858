#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weyl/core/prepared_file.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {

/// What frames have in common and no single one says, where they are read one by one: the labels that all have, under
/// which keys, and what to say of them.
struct FramesInCommon {
  std::vector<std::string> labels;          // names of those that are labels
  std::map<std::string, std::string> keys;  // of labels by name, where frames have one, labels or not
  std::map<std::string, std::string> left_out;
  std::vector<std::string> unread, warnings;  // of their schema
  std::vector<std::string>
      config_types;  // in the order in which they came; one that is empty: frames without
  double typical_nodes = 1;
  bool periodic = false;  // whether some frame is

  bool operator==(const FramesInCommon&) const = default;
};

/// What reading all frames of a file or folder once tells: all that a stream keeps in memory.
struct FrameIndex {
  std::vector<uint32_t> sizes;                // atoms of each frame that is a sample
  std::vector<FramePlace> places;             // of each; empty: of a reader that cannot go to them
  std::vector<std::vector<uint16_t>> states;  // of each state of the layout, the channel of each sample
  std::vector<int64_t> isolated;              // the samples that are isolated atoms, ascending
  FramesInCommon common;

  bool operator==(const FrameIndex&) const = default;
};

/// Reads what write_index has written. `channels`: how many each state of the layout has. DataError naming the file: a part
/// is missing, of another type or length than the number of samples; a sample without atoms, a state without such a
/// channel, isolated atoms that do not ascend or are no samples; text that is not such an index's.
FrameIndex read_index(const SafetensorsFile& file, const std::vector<int64_t>& channels);

/// Keeps an index. Returns why it could not be kept, as where a key of the frames is no UTF-8; empty: it is kept.
std::string write_index(const PreparedFile& to, const FrameIndex& index);

}  // namespace weyl
