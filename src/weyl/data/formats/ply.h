#pragma once

#include <string>
#include <string_view>

#include "weyl/data/formats/off.h"
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

/// The same vertices with the faces: the list `vertex_indices` or `vertex_index` of the element `face`, of more than three
/// corners as a fan; without such a list the mesh has no faces. DataError as above, and: a face of fewer than 3
/// corners, a corner that is no vertex.
Mesh parse_ply_mesh(std::string_view file, std::string_view where);
Mesh read_ply_mesh(const std::string& path);

}  // namespace weyl
