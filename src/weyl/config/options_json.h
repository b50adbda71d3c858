#pragma once

#include "weyl/config/toml.h"
#include "weyl/core/json.h"

namespace weyl {

/// The resolved options as a JSON object. Tables are objects. An optional that is off is false. A variant is written
/// with its chosen alternative alone.
Json options_json(const Visit& visit);

}  // namespace weyl
