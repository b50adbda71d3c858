#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/ply.h"

/// Bytes are refused with a DataError, or their triangles have vertices that are there and finite, and an area.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  for (const auto parse : {weyl::parse_obj, weyl::parse_ply_mesh, weyl::parse_stl}) {
    try {
      const weyl::Mesh mesh = parse(file, "input");
      for (const int64_t corner : mesh.triangles) {
        if (corner < 0 || corner >= mesh.vertex_count()) {
          std::abort();
        }
      }
      weyl::require_surface(mesh, "input");
      for (const double x : mesh.vertices) {
        if (!std::isfinite(x)) {
          std::abort();
        }
      }
    } catch (const weyl::DataError&) {
    }
  }
  return 0;
}
