#pragma once

#include <variant>

#include "weyl/models/geomformer/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/transformer/options.h"

namespace weyl {

/// The one list of systems.
using SystemOptions =
    std::variant<TransformerOptions, PlatonicOptions, LieOptions, SteerableOptions, GeomformerOptions>;

struct ModelOptions {
  SystemOptions system;
};
void fields(Fields& f, ModelOptions& o);

}  // namespace weyl
