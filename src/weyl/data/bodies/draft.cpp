// Rigid bodies in motion, as `weyl config new` sees them.
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/bodies/files.h"
#include "weyl/data/bodies/options.h"

namespace weyl {

FoundData RigidBodyFiles::draft(const std::string& path) {
  FoundData found;
  if (!lays_out(path)) {
    return found;
  }
  found.family = FoundData::Family::bodies;
  const Splits splits = open_set(RigidBodiesDataOptions{.path = path});
  count_samples(found, splits, path);
  found.what = text(found.samples, " training samples of rigid bodies, of ", std::llround(found.mean_tokens),
                    " triangles on average");
  found.tasks = {{"rigid_motion", "motion"}};
  found.write_data = [path](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "rigid_bodies", path);
    draft.set("floor", true, "tells where down is");
  };
  found.write_task = [](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.rigid_motion");
    draft.set("baseline", "constant_velocity");
    draft.set("norm_weight", 1);
  };
  return found;
}

}  // namespace weyl
