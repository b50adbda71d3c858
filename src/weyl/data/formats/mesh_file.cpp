#include "weyl/data/formats/mesh_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/data/formats/obj.h"
#include "weyl/data/formats/ply.h"
#include "weyl/data/formats/stl.h"

namespace weyl {

void require_surface(const Mesh& mesh, std::string_view where) {
  require<DataError>(mesh.vertex_count() > 0, where, ": the mesh must have vertices, it is empty");
  require<DataError>(mesh.triangle_count() > 0, where, ": the mesh must have faces, it has none");
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    require<DataError>(std::isfinite(mesh.vertices[i]), where, ": vertex ", i / 3,
                       ": coordinates must be finite, got ", mesh.vertices[i]);
    low[i % 3] = std::min(low[i % 3], mesh.vertices[i]);
    high[i % 3] = std::max(high[i % 3], mesh.vertices[i]);
  }
  const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  for (int64_t t = 0; t < mesh.triangle_count(); ++t) {
    const auto corner = [&](int k) { return &mesh.vertices[3 * mesh.triangles[3 * t + k]]; };
    std::array<double, 3> u, v;
    for (int d = 0; d < 3; ++d) {
      u[d] = (corner(1)[d] - corner(0)[d]) / size;
      v[d] = (corner(2)[d] - corner(0)[d]) / size;
    }
    const double area =
        0.5 * std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    require<DataError>(area > 1e-12, where, ": triangle ", t, " must have an area, it has none (corners ",
                       mesh.triangles[3 * t], ", ", mesh.triangles[3 * t + 1], ", ",
                       mesh.triangles[3 * t + 2], ")");
  }
}

Mesh read_mesh(const std::string& path) {
  std::string name = path;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  Mesh mesh;
  if (name.ends_with(".obj")) {
    mesh = read_obj(path);
  } else if (name.ends_with(".off")) {
    mesh = read_off(path);
  } else if (name.ends_with(".ply")) {
    mesh = read_ply_mesh(path);
  } else if (name.ends_with(".stl")) {
    mesh = read_stl(path);
  } else {
    throw DataError(text(path, ": a mesh must be of ", mesh_endings));
  }
  require_surface(mesh, path);
  return mesh;
}

}  // namespace weyl
