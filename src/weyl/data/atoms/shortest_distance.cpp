#include "weyl/data/atoms/shortest_distance.h"

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/units.h"

namespace weyl {

std::optional<ClosestPair> shortest_distance(const AtomsFrame& frame, double bound) {
  return closest_pair(frame.positions, frame.cell ? frame.cell->data() : nullptr, frame.pbc, bound);
}

std::string overlap_text(const AtomsFrame& frame, const ClosestPair& found) {
  const auto name = [&](int64_t atom) {
    return text(atom + 1, " (", element_symbol(frame.numbers[static_cast<size_t>(atom)]), ")");
  };
  return text("atoms ", name(found.first), " and ", name(found.second), " are ", found.distance, " apart");
}

std::string overlap_warning(const AtomsFrame& frame, const std::string& where,
                            const std::string& length_unit) {
  const auto found = shortest_distance(frame, overlap / unit_factor(length_unit, "Angstrom"));
  return found ? text(where, ": ", overlap_text(frame, *found), " (", length_unit, "): no molecule has such")
               : "";
}

}  // namespace weyl
