#pragma once

#include <c10/core/Device.h>

#include <string>

#include "weyl/core/json.h"
#include "weyl/train/options.h"

namespace weyl {

/// What the bits of a run depend on beside its config: versions, processor, threads, device, precision.
Json environment(at::Device device, Precision precision);

/// What differs between an environment and the one a run began in, as one line; empty when the bits will
/// agree.
std::string differences(const Json& now, const Json& then);

}  // namespace weyl
