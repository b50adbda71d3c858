#pragma once

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"

namespace weyl {

// An [interface] of a config and of a model file.
void fields(Fields& f, Quantity& q);
void fields(Fields& f, Interface& i);

}  // namespace weyl
