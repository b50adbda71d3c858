#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/array.h"

namespace weyl {

/// Reads numpy's .npy (versions 1.0, 2.0, 3.0; little and big endian; C and Fortran order; bool, i1 to i8, u1
/// to u8, f2, f4, f8) into row-major, little-endian bytes. Object arrays (pickled Python), structured and
/// other types are refused. `where` names the file in messages. DataError; never reads outside `file`.
Array parse_npy(std::span<const std::byte> file, std::string_view where);
Array read_npy(const std::string& path);

/// What such a file says before its values.
struct NpyHeader {
  ElementType type = ElementType::f64;
  bool big_endian = false, fortran_order = false;
  std::vector<int64_t> shape;
  uint64_t begin = 0, bytes = 0;  // where the values stand, and how many bytes they are
};

/// The header of a file of `size` bytes that begins with `file`: all of it, or npy_header_limit bytes.
/// DataError, also when the values that it states are not those of the file.
constexpr size_t npy_header_limit = (1 << 16) + 12;
NpyHeader parse_npy_header(std::span<const std::byte> file, uint64_t size, std::string_view where);

/// The array of a header and the `bytes` that follow it.
Array npy_array(NpyHeader header, std::vector<std::byte> values);

/// The bytes of a version 1.0 file, header padded to 64 bytes. DataError for BF16, which numpy lacks.
std::vector<std::byte> npy_bytes(const Array& array);

/// Writes them atomically (core/atomic_file.h).
void write_npy(const std::string& path, const Array& array);

}  // namespace weyl
