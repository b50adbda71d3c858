#pragma once

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// The features of a config's [interface] and, as labels, its outputs. ConfigError when there is none: nobody
/// else says what such files hold.
Schema tensors_schema(const Interface* interface);

/// train.safetensors, valid.safetensors and test.safetensors of a folder, those that are there.
Splits open_tensors(const TensorsDataOptions& options, const Interface* interface);

}  // namespace weyl
