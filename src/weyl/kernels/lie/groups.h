// All six groups, and the way from the run-time group to the compiled one.
#pragma once

#include "weyl/kernels/lie/aff2.h"
#include "weyl/kernels/lie/aff3.h"
#include "weyl/kernels/lie/se2.h"
#include "weyl/kernels/lie/se3.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// f(SO2{}), f(SE2{}), ...
template <class F>
inline decltype(auto) visit(LieGroup group, F&& f) {
  switch (group) {
    case LieGroup::so2:
      return f(SO2{});
    case LieGroup::se2:
      return f(SE2{});
    case LieGroup::so3:
      return f(SO3{});
    case LieGroup::se3:
      return f(SE3{});
    case LieGroup::aff2:
      return f(AFF2{});
    case LieGroup::aff3:
      break;
  }
  return f(AFF3{});
}

/// What a group computes in when its elements are stored in T.
template <class G, class T>
using Computed = std::conditional_t<is_rigid(G::group), T, double>;

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
