#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weyl {

/// The numbers along an axis, as many as can be read: at multiples of 1, 2 or 5 times a power of ten, each apart from the
/// next by more than it is long.
struct AxisTics {
  double low = 0, high = 0;  // the ends of the axis
  std::vector<std::pair<double, std::string>> marks;
};

/// Of an axis of `pixels` from `low` to a larger `high`; with `whole` it ends at marks. From a million on all numbers of an
/// axis are counted in one power of a thousand: 0, 0.5T, 1T, 1.5T.
/// No marks where doubles have no digits for them.
AxisTics axis_tics(double low, double high, double pixels, bool whole);

}  // namespace weyl
