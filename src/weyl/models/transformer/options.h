#pragma once

#include "weyl/config/fields.h"

namespace weyl {

struct TransformerOptions {
  static constexpr const char* name_in_config = "transformer";
};
void fields(Fields& f, TransformerOptions& o);

}  // namespace weyl
