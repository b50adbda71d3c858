#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A metric and what it is multiplied with.
struct MetricTerm {
  double weight = 1;
  std::string name;

  bool operator==(const MetricTerm&) const = default;
};

/// Reads "energy_mae", or a weighted sum, "energy_mae + 10 force_mae" ("10*force_mae" too). Names, of classes for one,
/// may hold blanks and plus signs: at each place the longest of `known` is meant. ConfigError, which begins with
/// train.best: nothing, a weight that is not a finite number above 0, a name that is not known (with the nearest, and
/// all that there are), one name twice.
std::vector<MetricTerm> metric_terms(std::string_view words, std::span<const std::string> known);

}  // namespace weyl
