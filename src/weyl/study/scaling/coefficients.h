#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/study/scaling/csv_lines.h"
#include "weyl/study/scaling/law.h"

namespace weyl {

/// A law that is given: of a paper, or of an earlier fit.
struct GivenLaw {
  std::string system;
  ScalingLaw law;
  std::optional<double> xi;
};

/// A CSV file with columns system, A, alpha, B, beta and, where they are, E (0) and xi (not known), one row a system.
/// DataError for the first row that is none, naming its line: a law is given whole or not at all.
std::vector<GivenLaw> read_coefficients(const std::string& path);
std::vector<GivenLaw> parse_coefficients(std::string_view text, std::string_view where);

}  // namespace weyl
