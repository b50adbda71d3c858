#pragma once

#include <string>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// Where the splits of a maker's tensor files are, what they must hold and how many samples of each are used.
struct TensorSplits {
  std::string path;                        // the folder
  std::string key;                         // of the options, in messages: "data.planets"
  std::string make;                        // the command that makes them, in messages
  Schema wanted;                           // read_tensor_file; all its labels must be there
  int64_t train = 0, valid = 0, test = 0;  // the first so many; 0: all
};

/// train.safetensors, valid.safetensors and test.safetensors, those that there are. DataError: no such folder, none of
/// them, a broken file, one that lacks a label, or fewer samples than asked for.
Splits open_tensor_splits(const TensorSplits& splits);

}  // namespace weyl
