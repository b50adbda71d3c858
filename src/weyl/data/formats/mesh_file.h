#pragma once

#include <string>
#include <string_view>

#include "weyl/data/formats/off.h"

namespace weyl {

/// The endings of mesh files that are read.
inline constexpr std::string_view mesh_endings = ".obj, .off, .ply or .stl";

/// A mesh of any of these formats, by the ending of its name, fit to be a body: DataError naming the file when the
/// format's reader refuses it, and when it has no vertex, no face, or a triangle whose area is (nearly) 0: at most
/// 1e-12 of the square of the mesh's size.
Mesh read_mesh(const std::string& path);

/// What read_mesh asks of a mesh that was read from `where`.
void require_surface(const Mesh& mesh, std::string_view where);

}  // namespace weyl
