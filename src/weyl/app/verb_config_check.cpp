#include "weyl/app/verbs.h"
#include "weyl/predict/subject.h"

namespace weyl {

int run(const ConfigCheckCommand& command, const Systems& systems) {
  return run(command, options_of(systems), [](const Recipe& recipe) { return warnings_on_model(recipe); });
}

}  // namespace weyl
