#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/array.h"

namespace weyl {

/// What the values of an IDX file may take, in bytes.
constexpr uint64_t idx_limit = uint64_t{4} << 30;

/// Reads MNIST's IDX (two zero bytes, the type, the number of dimensions, big-endian sizes, big-endian
/// values: u8, i8, i16, i32, f32, f64), also packed by gzip. DataError beginning with `where`: another magic
/// number, a type that is none, a size that the file does not have or beyond `limit`, broken gzip.
/// MemoryError: more than there is. Both are judged by the header.
Array parse_idx(std::span<const std::byte> file, std::string_view where, uint64_t limit = idx_limit);
Array read_idx(const std::string& path);

/// The bytes of such a file. DataError for an element type that IDX lacks.
std::vector<std::byte> idx_bytes(const Array& array);

}  // namespace weyl
