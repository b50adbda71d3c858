// Blocks and norms of the algebras (algebra/lie/group_list.h) as arrays: in files compiled once for each instruction
// set nothing of the standard library may run.
#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/instruction_set.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

inline constexpr const LieBlock* block_tables[] = {lie_tables::so2, lie_tables::se2,  lie_tables::so3,
                                                   lie_tables::se3, lie_tables::aff2, lie_tables::aff3};
inline constexpr const double* norm_tables[] = {lie_tables::so2_norms,  lie_tables::se2_norms,
                                                lie_tables::so3_norms,  lie_tables::se3_norms,
                                                lie_tables::aff2_norms, lie_tables::aff3_norms};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
