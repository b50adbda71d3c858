#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/group_table.h"

namespace weyl {

/// Subgroups 1 = H_0 < H_1 < ... < H_k = G, each given by its elements' indices in the whole group, ascending. H_i is the
/// largest proper subgroup of H_i+1 that was found, the first by its elements among those of one size. Groups of more than
/// 400 subgroups are not searched to the end.
std::vector<std::vector<int64_t>> subgroup_chain(const GroupTable& group);

}  // namespace weyl
