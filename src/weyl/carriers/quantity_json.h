#pragma once

#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/core/json.h"

namespace weyl {

/// [{name, level, kind, channels, role, extensive, unit, categories}]
Json quantities_json(const std::vector<Quantity>& quantities);

}  // namespace weyl
