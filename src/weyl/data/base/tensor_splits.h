#pragma once

#include <string>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// Tensor files that a maker wrote: where the splits are, what they must hold and how many samples of each are used.
struct TensorSplits {
  std::string path;                        // the folder
  std::string key;                         // of the options, for messages: "data.planets"
  std::string make;                        // the command that makes them, for messages
  Schema wanted;                           // see read_tensor_file; all its labels must be there
  int64_t train = 0, valid = 0, test = 0;  // how many samples to use, from the first on; 0: all
};

/// Opens train.safetensors, valid.safetensors and test.safetensors, as far as they exist. DataError: there is no such
/// folder, or none of the files; a file is broken, lacks a label, or has fewer samples than asked for.
Splits open_tensor_splits(const TensorSplits& splits);

}  // namespace weyl
