#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace weyl {

/// What the comment line of a frame of i-PI says:
///
///   # CELL(abcABC):   10.0   10.0   10.0   90.0   90.0   90.0  Step:  0  Bead:  0 positions{angstrom}  cell{angstrom}
///
/// The cell is three lengths and three angles in degrees, or H and GENH, nine numbers of which the columns are the
/// lattice vectors.
struct IpiComment {
  std::array<double, 9> cell{};  // (3, 3) rows are lattice vectors
  std::string quantity;          // of the columns: "positions", "forces", ...; empty: not said
  std::string unit, cell_unit;   // in i-PI's words; empty: not said
};

/// Nothing of a line that is none of i-PI's. DataError without a place, which the caller knows: a cell that is none.
std::optional<IpiComment> parse_ipi_comment(std::string_view line);

}  // namespace weyl
