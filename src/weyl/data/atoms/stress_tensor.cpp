#include "weyl/data/atoms/stress_tensor.h"

#include <string_view>

#include "weyl/core/check.h"
#include "weyl/data/atoms/potential_keys.h"

namespace weyl {

std::vector<double> tensor_of_six(const std::vector<double>& six, StressOrder order) {
  require(six.size() == 6, "stress: must be 6 numbers, got ", six.size());
  const bool vasp = order == StressOrder::vasp;
  const double xx = six[0], yy = six[1], zz = six[2];
  const double yz = vasp ? six[4] : six[3], xz = vasp ? six[5] : six[4], xy = vasp ? six[3] : six[5];
  return {xx, xy, xz, xy, yy, yz, xz, yz, zz};
}

void write_out_stress(FrameValue& value, StressOrder order, const std::string& key) {
  const bool named = is_stress_key(value.name) || (!key.empty() && value.name == key);
  const auto reals =
      named && count_of(value.values) == 6 ? reals_of(value.values) : std::optional<std::vector<double>>();
  if (reals) {
    value.values = tensor_of_six(*reals, order);
    value.shape = {9};
  }
}

void write_out_stresses(AtomsFrame& frame, StressOrder order, const std::string& key) {
  for (FrameValue& value : frame.values) {
    write_out_stress(value, order, key);
  }
}

}  // namespace weyl
