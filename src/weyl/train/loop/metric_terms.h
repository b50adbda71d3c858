#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A metric and its weight in a sum.
struct MetricTerm {
  double weight = 1;
  std::string name;

  bool operator==(const MetricTerm&) const = default;
};

/// Reads "energy_mae", or a weighted sum, "energy_mae + 10 force_mae" ("10*force_mae" too). Names may hold blanks and
/// plus signs, as names of classes do: at each place the longest of `known` that fits is taken. ConfigError, with a
/// message that begins with train.best: no term; a weight that is not a finite number above 0; an unknown name (with
/// the nearest, and all known ones); one name twice.
std::vector<MetricTerm> metric_terms(std::string_view words, std::span<const std::string> known);

}  // namespace weyl
