#pragma once

#include <variant>

#include "weyl/models/platonic/options.h"
#include "weyl/models/transformer/options.h"

namespace weyl {

/// The one list of systems.
using SystemOptions = std::variant<TransformerOptions, PlatonicOptions>;

struct ModelOptions {
  SystemOptions system;
};
void fields(Fields& f, ModelOptions& o);

}  // namespace weyl
