#pragma once

#include <string>
#include <vector>

#include "weyl/nn/module.h"

namespace weyl {

/// Freezes the parameters below each of the prefixes (Module::freeze; train.freeze). ConfigError: a prefix below which
/// there are none, with the nearest that there is; nothing is left to train.
void freeze_parameters(Module& model, const std::vector<std::string>& prefixes);

}  // namespace weyl
