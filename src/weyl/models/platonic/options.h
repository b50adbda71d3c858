#pragma once

#include "weyl/config/fields.h"

namespace weyl {

struct PlatonicOptions {
  static constexpr const char* name_in_config = "platonic";
};
void fields(Fields& f, PlatonicOptions& o);

}  // namespace weyl
