#include "weyl/app/verbs.h"
#include "weyl/core/check.h"

namespace weyl {

int run(const BenchCommand&) {
  throw ConfigError("weyl bench: study/bench is not part of this build");
}

}  // namespace weyl
