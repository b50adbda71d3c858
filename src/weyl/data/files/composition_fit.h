#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weyl {

/// The number e(t) for each type that minimises sum over k of weight |y - sum over (t, count) of count e(t)|, by
/// reweighted least squares, and with it the estimates of y. Few y that are far off do not change it. Directions that
/// the compositions leave open are small.
std::vector<double> composition_estimates(
    const std::vector<std::vector<std::pair<int64_t, int64_t>>>& compositions, const std::vector<double>& y,
    const std::vector<double>& weights);

}  // namespace weyl
