#pragma once

#include "weyl/core/segments.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// The mean of l(x) over the errors x that are known (`known`, a bool tensor that broadcasts to x, on its
/// device; undefined: all), with the law l of ErrorLaw; 0 when none is.
Tensor mean_error(ErrorLaw law, double huber_delta, const Tensor& x, const Tensor& known = {});

/// The mean of the lengths |x_i| of those rows of x (L, D) of which every number is known; 0 when none is. Its slope at
/// a row of zeros is 0.
Tensor mean_length(const Tensor& x, const Tensor& known);

}  // namespace weyl
