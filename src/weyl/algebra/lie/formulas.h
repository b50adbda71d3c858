// The six groups as types, for code that knows its group when it is compiled: SE3::Element<double>,
// SE3::exp(w), SE3::left_jacobian(w), ... on float, double or dual numbers (algebra/lie/dual.h). The same
// formulas run on vectors in kernels/lie/pairs.h. The run-time interface is group.h.
#pragma once

#include "weyl/algebra/lie/groups.h"

namespace weyl {

using kernels::WEYL_ISA::lie::AFF2;
using kernels::WEYL_ISA::lie::AFF3;
using kernels::WEYL_ISA::lie::SE2;
using kernels::WEYL_ISA::lie::SE3;
using kernels::WEYL_ISA::lie::SO2;
using kernels::WEYL_ISA::lie::SO3;

}  // namespace weyl
