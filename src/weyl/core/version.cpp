#include "weyl/core/version.h"

namespace weyl {

const char* version() {
  return WEYL_VERSION;
}

}  // namespace weyl
