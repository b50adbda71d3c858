#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/element_type.h"
#include "weyl/data/formats/pickle.h"

namespace weyl {

/// A tensor as a checkpoint's pickle describes it: a view of a storage; offset, shape and strides count
/// elements and are not negative, nothing says yet that they fit the storage.
struct PickledTensor {
  std::string name;
  std::string_view key;  // of the storage; into the pickle's bytes
  ElementType type = ElementType::f32;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;  // of one length, at most most_dimensions
};

/// The tensors of a checkpoint in its order; data/formats/pytorch_zip.h says which they are and what is
/// refused. DataError beginning with `where`.
std::vector<PickledTensor> pickled_tensors(const Pickle& pickle, std::string_view where);

/// Those under one entry of the checkpoint, which is no state dict: `optimizer_states`. None where there is no such
/// entry.
std::vector<PickledTensor> pickled_tensors_of(const Pickle& pickle, std::string_view entry,
                                              std::string_view where);

}  // namespace weyl
