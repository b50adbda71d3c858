#include "weyl/models/options.h"

namespace weyl {

void fields(Fields& f, ModelOptions& o) {
  f.variant("system", o.system, "the architecture; its options stand in the table of its name");
}

}  // namespace weyl
