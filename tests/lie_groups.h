#pragma once

#include "weyl/algebra/lie/group_list.h"

namespace weyl {

inline constexpr LieGroup lie_groups[] = {LieGroup::so2, LieGroup::se2,  LieGroup::so3,
                                          LieGroup::se3, LieGroup::aff2, LieGroup::aff3};

}  // namespace weyl
