#pragma once

#include <vector>

#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/system_options.h"
#include "weyl/models/transformer/options.h"

namespace weyl {

/// The systems that come with weyl, each with its defaults, in the order of messages; the first is the default.
/// models/systems.h has how they are built.
std::vector<SystemOptions> built_in_options();

/// What learns: one of the systems known, by its options. A program with systems of its own knows those too
/// (models/systems.h).
struct ModelOptions {
  SystemOptions system = transformer::Options{};
  std::vector<SystemOptions> known = built_in_options();
};
void fields(Fields& f, ModelOptions& o);

/// The same for the config of a stored model or run: keys that it lacks, because it is older than they are, have the
/// values that its model was built with.
ModelOptions stored(ModelOptions known);

}  // namespace weyl
