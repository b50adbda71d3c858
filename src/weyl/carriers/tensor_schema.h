#pragma once

#include "weyl/carriers/batch.h"
#include "weyl/core/safetensors.h"

namespace weyl {

/// What the tensors of a carrier tensor file are, as far as their names and shapes tell: see
/// read_tensor_file.
Schema implied_schema(const SafetensorsFile& file, Carrier carrier);

}  // namespace weyl
