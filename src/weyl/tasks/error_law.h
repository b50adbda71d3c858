#pragma once

#include "weyl/core/segments.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// The mean of l(x) over the errors x that are known (`known`, a bool tensor that broadcasts to x, on its
/// device; undefined: all), with the law l of ErrorLaw; 0 when none is.
Tensor mean_error(ErrorLaw law, double huber_delta, const Tensor& x, const Tensor& known = {});

}  // namespace weyl
