#pragma once

#include <c10/core/Device.h>

#include <string>

#include "weyl/core/json.h"
#include "weyl/train/options.h"

namespace weyl {

/// What the bits of a run depend on beside its config and its data: versions, processor, the instruction sets of
/// LibTorch and of our kernels, threads, device, precision, and the variables that choose MKL's and oneDNN's code. Of a
/// device other than the CPU also train.tf32, train.deterministic and the variables of its libraries.
Json environment(at::Device device, const TrainOptions& options);

/// What differs between an environment and the one a run began in, as one line; empty when the bits will
/// agree. Keys that the earlier one lacks are passed over.
std::string differences(const Json& now, const Json& then);

}  // namespace weyl
