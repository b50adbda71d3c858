#pragma once

#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/options.h"

namespace weyl {

/// A symmetric tensor (3, 3), row-major, from the six numbers of a file in their order.
std::vector<double> tensor_of_six(const std::vector<double>& six, StressOrder order);

/// Makes nine numbers of a stress or virial that has six, under a usual name (potential_keys.h) or under `key`: readers of
/// extended xyz, ASE's among them, take nine alone. What is no number, or is not of six, stays.
void write_out_stress(FrameValue& value, StressOrder order, const std::string& key = {});
/// Does so with all values of a frame.
void write_out_stresses(AtomsFrame& frame, StressOrder order, const std::string& key = {});

}  // namespace weyl
