#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/clouds/mesh_file.h"

/// Text is refused with a DataError, or its triangles have vertices that are there and finite, and what is
/// written of it is read as the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto mesh = weyl::parse_off({reinterpret_cast<const char*>(data), size}, "input");
    bool sound = mesh.vertex_count() > 0 && mesh.triangle_count() > 0;
    for (const double x : mesh.vertices) {
      sound = sound && std::isfinite(x);
    }
    for (const int64_t corner : mesh.triangles) {
      sound = sound && corner >= 0 && corner < mesh.vertex_count();
    }
    if (!sound || weyl::parse_off(weyl::off_text(mesh), "again") != mesh) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
