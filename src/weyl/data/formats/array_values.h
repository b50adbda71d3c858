#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/formats/array.h"

namespace weyl {

/// Whether a type is of integers (1 to 8 bytes), logicals, float32 or float64, which `slice` reads.
bool holds_values(ElementType type);

/// Elements [begin, begin + count), logicals and integers as such, floats as reals. ShapeError outside of the
/// array.
FrameValues slice(const Array& array, int64_t begin, int64_t count);

/// All of it as reals, and as integers; DataError naming `where` when it holds something else.
std::vector<double> reals_of(const Array& array, int64_t begin, int64_t count, std::string_view where);
std::vector<int64_t> integers_of(const Array& array, std::string_view where);

/// An array of float64, or of bytes.
Array array_of(std::span<const double> values, std::vector<int64_t> shape);
Array array_of(std::span<const uint8_t> values, std::vector<int64_t> shape);

}  // namespace weyl
