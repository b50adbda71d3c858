#pragma once

#include "weyl/config/toml.h"
#include "weyl/core/json.h"

namespace weyl {

/// The resolved options as a JSON object: tables are objects, an optional that is off is false, of a variant
/// the chosen alternative alone is written.
Json options_json(const Visit& visit);

}  // namespace weyl
