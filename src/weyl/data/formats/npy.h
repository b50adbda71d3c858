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

/// The bytes of a version 1.0 file, header padded to 64 bytes. DataError for BF16, which numpy lacks.
std::vector<std::byte> npy_bytes(const Array& array);

/// Writes them atomically (core/atomic_file.h).
void write_npy(const std::string& path, const Array& array);

}  // namespace weyl
