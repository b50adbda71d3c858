#pragma once

#include "weyl/nn/activation.h"
#include "weyl/ops/frames/bias_activation.h"

namespace weyl {

/// What ops of several steps call it (ops/frames/bias_activation.h).
ActivationLaw law_of(Activation law);

}  // namespace weyl
