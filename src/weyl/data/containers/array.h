#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/core/element_type.h"

namespace weyl {

/// A tensor without torch: row-major, little-endian bytes. `copy_tensor` (core/tensor_file.h) makes a Tensor of it.
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

/// Whether `slice` reads a type: integers (1 to 8 bytes, but not u64), logicals, float32 and float64.
bool holds_values(ElementType type);

/// Elements [begin, begin + count): logicals and integers as such, floats as reals. ShapeError when they are outside
/// the array, or of a type that is not read.
FrameValues slice(const Array& array, int64_t begin, int64_t count);

/// Elements [begin, begin + count) as reals, and the whole array as integers. DataError naming `where` when the array
/// holds something else.
std::vector<double> reals_of(const Array& array, int64_t begin, int64_t count, std::string_view where);
std::vector<int64_t> integers_of(const Array& array, std::string_view where);

/// An array of float64, or of bytes. ShapeError unless the values fill the shape.
Array array_of(std::span<const double> values, std::vector<int64_t> shape);
Array array_of(std::span<const uint8_t> values, std::vector<int64_t> shape);

}  // namespace weyl
