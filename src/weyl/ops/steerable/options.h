#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weyl::steerable {

/// The radial part phi(r) of steerable positional vectors (ops/steerable/positions.h), r in pixels, zero at r = 0 for
/// every irrep.
///   inverse_square  phi = r^-2 (paper, section 3.2), one weight for each channel
///   gaussian        phi = exp(-r^2 / 2 width^2), width fixed, likewise
///   table           phi = 1, and a weight for each channel and each distance that two pixels of a grid can
///                   have, up to `reach`; zero beyond
///   none            no positional vectors
enum class RadialLaw { inverse_square, gaussian, table, none };
constexpr auto names_of(RadialLaw) {
  return std::array<std::string_view, 4>{"inverse_square", "gaussian", "table", "none"};
}

struct PositionOptions {
  RadialLaw radial = RadialLaw::inverse_square;
  double width = 1;   // of `gaussian`
  double reach = 16;  // of `table`
  bool operator==(const PositionOptions&) const = default;
};

/// What scores are divided by. `head`: sqrt(d_K), the channels of a head (paper, eq. 13; of irreps with
/// different channels the mean). `full`: sqrt(F), all numbers of a token in all heads (the authors' code in
/// space).
enum class ScoreScale { head, full };
constexpr auto names_of(ScoreScale) {
  return std::array<std::string_view, 2>{"head", "full"};
}

struct AttentionOptions {
  int64_t heads = 1;  // must divide the channels of each irrep
  ScoreScale scale = ScoreScale::head;
  PositionOptions positions;
  bool operator==(const AttentionOptions&) const = default;
};

}  // namespace weyl::steerable
