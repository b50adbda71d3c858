#pragma once

#include <string>
#include <string_view>

#include "weyl/data/formats/point_table.h"

namespace weyl {

/// Reads the vertices of PLY (ascii 1.0, binary_little_endian 1.0, binary_big_endian 1.0): every property of the
/// element `vertex` that is one number becomes a column of its name; lists among them, and all other elements (faces,
/// edges, ...), are passed over, but must be there. Memory for the numbers is taken once it is known that the file
/// holds as many.
///
/// DataError naming `where` and the line, or in binary files the row: another header, no element vertex or none of x,
/// y and z, a property twice, a file that ends before its last element or goes on after it (a binary file whose line
/// ends were changed does), a coordinate that is not finite, what is no number, another number of them on a line.
/// MemoryError: more than there is.
PointTable parse_ply(std::string_view file, std::string_view where);
PointTable read_ply(const std::string& path);

}  // namespace weyl
