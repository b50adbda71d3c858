#pragma once

#include <string>
#include <string_view>

#include "weyl/data/formats/off.h"

namespace weyl {

/// Reads the vertices and faces of a Wavefront OBJ: `v x y z` (what follows is passed over), `f a b c ...` with corners
/// `7`, `7/1`, `7/1/3` or `7//3`, counted from 1 or, below 0, back from the last vertex. Faces of more than
/// three corners become fans, # begins a comment, other statements but `o NAME` (an object begins) are passed over. DataError naming `where` and the line:
/// coordinates that are not finite numbers, a corner that is no vertex read so far, a face of fewer than three
/// corners, an object (`o NAME`) that has vertices and no faces.
Mesh parse_obj(std::string_view file, std::string_view where);
Mesh read_obj(const std::string& path);

}  // namespace weyl
