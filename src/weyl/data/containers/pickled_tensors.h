#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/element_type.h"
#include "weyl/data/containers/pickle.h"

namespace weyl {

/// A tensor as a checkpoint's pickle describes it: a view of a storage. Offset, shape and strides count elements and
/// are not negative. Whether they fit the storage is not checked here.
struct PickledTensor {
  std::string name;
  std::string_view key;  // names the storage; a view into the pickle's bytes
  ElementType type = ElementType::f32;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;  // of equal length, at most most_dimensions
};

/// The tensors of a checkpoint, in its order. data/containers/pytorch_zip.h says which they are and what is refused.
/// DataError beginning with `where`.
std::vector<PickledTensor> pickled_tensors(const Pickle& pickle, std::string_view where);

/// The tensors below one entry of the checkpoint that is no state dict, such as `optimizer_states`. None when there is
/// no such entry.
std::vector<PickledTensor> pickled_tensors_of(const Pickle& pickle, std::string_view entry,
                                              std::string_view where);

}  // namespace weyl
