#pragma once

#include <c10/core/Device.h>
#include <string>

#include "weyl/core/json.h"
#include "weyl/train/options.h"

namespace weyl {

/// What the bits of a run depend on besides its config and its data: versions, processor, the instruction sets of
/// LibTorch and of our kernels, threads, device, precision, and the variables that choose the code of MKL and oneDNN.
/// For a device other than the CPU also train.tf32, train.deterministic and the variables of the device's libraries.
Json environment(at::Device device, const TrainOptions& options);

/// What differs between the present environment and the one that a run began in, as one line; empty when the bits will
/// agree. Keys that the earlier one lacks are passed over.
std::string differences(const Json& now, const Json& then);

}  // namespace weyl
