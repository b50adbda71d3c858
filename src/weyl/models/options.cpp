#include "weyl/models/options.h"

#include <algorithm>

#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/grids/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/transformer/options.h"

namespace weyl {

std::vector<SystemOptions> built_in_options() {
  return {transformer::Options{}, platonic::Options{}, lie::Options{},      steerable::Options{},
          geomformer::Options{},  gatr::Options{},     grids::CnnOptions{}, grids::UnetOptions{}};
}

void fields(Fields& f, ModelOptions& o) {
  auto found = std::ranges::find(o.known, o.system.name(), &SystemOptions::name);
  if (found == o.known.end()) {
    found = o.known.insert(found, o.system);
  }
  auto chosen = static_cast<size_t>(found - o.known.begin());
  std::vector<std::string_view> names;
  for (const SystemOptions& known : o.known) {
    names.push_back(known.name());
  }
  f.also_called("system", {"name", "type", "architecture", "arch"});
  f.alternatives(
      "system", chosen, names, "the architecture; its options stand in the table of its name",
      [&](size_t index) { o.system = o.known[index]; },
      [&](size_t index) {
        if (index == chosen) {
          o.system.visit(f);
        } else {
          SystemOptions scratch = o.known[index];
          scratch.visit(f);
        }
      });
  f("frames", o.frames,
    "run a system of points in frames of each graph's own, which makes it exact under all rotations and "
    "reflections: pca, the principal axes, for systems exact under changes of their signs (platonic with "
    "octahedron_reflections); average, the mean over the signs (8 passes in space), for any system; "
    "average_rotations, over those that are rotations (4)");
}

}  // namespace weyl
