#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weyl/core/element_type.h"

namespace weyl {

/// A tensor without torch: row-major, little-endian bytes. `copy_tensor` (core/tensor_file.h) makes a Tensor
/// of it.
struct Array {
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  bool operator==(const Array&) const = default;
};

struct NamedArray {
  std::string name;
  Array array;
};

}  // namespace weyl
