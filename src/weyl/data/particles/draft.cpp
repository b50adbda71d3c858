// Particles in motion, as `weyl config new` sees them.
#include "weyl/data/base/draft.h"
#include "weyl/core/check.h"
#include "weyl/data/particles/files.h"
#include "weyl/data/particles/options.h"

namespace weyl {
namespace {

FoundData look_at_nbody(const std::string& path) {
  FoundData found;
  found.family = FoundData::Family::particles;
  count_samples(found, open_set(NbodyDataOptions{.path = path}), path);
  found.what = text(found.samples, " training simulations of ", found.most_tokens, " particles");
  found.tasks = {{"trajectory", "motion"}};
  found.write_data = [path](ConfigDraft& draft, const std::string&, const std::string& system) {
    write_set(draft, "nbody", path);
    if (system == "geomformer") {
      draft.set("charge_types", true, "this system learns by the type of a particle");
    }
  };
  found.write_task = [](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.trajectory");
    draft.set("baseline", "best_straight_line", "the network predicts what a straight line does not");
  };
  return found;
}

}  // namespace

FoundData NbodyFiles::draft(const std::string& path) {
  return lays_out(path) ? look_at_nbody(path) : FoundData();
}

FoundData NbodyOriginals::draft(const std::string& path) {
  return look_at_nbody(path);
}

}  // namespace weyl
