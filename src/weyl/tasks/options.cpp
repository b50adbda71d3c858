#include "weyl/tasks/options.h"

namespace weyl {

void fields(Fields& f, TrajectoryOptions& o) {
  f("baseline", o.baseline, "the simple answer that the model corrects");
  f("normalise", o.normalise, "outputs in units of the root mean square of what is to be predicted");
}

void fields(Fields& f, TaskOptions& o) {
  f.variant("name", o.task, "what is learned; its options stand in the table of its name");
}

}  // namespace weyl
