#pragma once

#include <string>
#include <string_view>

#include "weyl/data/formats/off.h"

namespace weyl {

/// Reads STL, text (`solid ...`, `facet`, `vertex x y z`, `endsolid`) or binary (a header of 80 bytes, the number of
/// triangles, 50 bytes each); normals and attributes are passed over. Corners of the same coordinates become one
/// vertex. DataError naming `where`: a file that is neither, one that ends within a triangle or goes on after the last,
/// coordinates that are not finite numbers.
Mesh parse_stl(std::string_view file, std::string_view where);
Mesh read_stl(const std::string& path);

}  // namespace weyl
