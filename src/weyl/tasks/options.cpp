#include "weyl/tasks/options.h"

namespace weyl {

void fields(Fields& f, TrajectoryOptions& o) {
  f("baseline", o.baseline, "the simple answer that the model corrects");
  f("normalise", o.normalise, "outputs in units of the root mean square of what is to be predicted");
}

void fields(Fields& f, CompletionOptions& o) {
  f("gap_weight", o.gap_weight, "of the part of the loss that asks which tokens stand beside the gap",
    {0, 1e6});
  f("pose_weight", o.pose_weight, "of the part of the loss that asks what stands in it", {0, 1e6});
}

void fields(Fields& f, TaskOptions& o) {
  f.variant("name", o.task, "what is learned; its options stand in the table of its name");
}

}  // namespace weyl
