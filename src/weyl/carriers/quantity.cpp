#include "weyl/carriers/quantity.h"

#include <algorithm>

namespace weyl {

Carrier carrier_of(const Interface& interface) {
  return interface.group ? Carrier::poses : interface.grid ? Carrier::grid : Carrier::points;
}

const Quantity* find_quantity(std::span<const Quantity> quantities, std::string_view name) {
  const auto found = std::ranges::find(quantities, name, &Quantity::name);
  return found == quantities.end() ? nullptr : &*found;
}

std::string unit_of(std::span<const Quantity> quantities, std::string_view name) {
  const Quantity* found = find_quantity(quantities, name);
  return found == nullptr ? "" : found->unit;
}

int64_t channels_of(const std::vector<Quantity>& quantities, Level level, Kind kind) {
  int64_t sum = 0;
  for (const auto& q : quantities) {
    if (q.level == level && q.kind == kind) {
      sum += q.channels;
    }
  }
  return sum;
}

int64_t components(Kind kind, int64_t dimension) {
  switch (kind) {
    case Kind::vector:
      return dimension;
    case Kind::axial_vector:
      return dimension * (dimension - 1) / 2;
    case Kind::symmetric_tensor:
      return dimension * dimension;
    case Kind::multivector:
      return 16;
    case Kind::scalar:
    case Kind::pseudoscalar:
    case Kind::category:
    case Kind::element:
      break;
  }
  return 1;
}

bool is_number(Kind kind, int64_t dimension) {
  return kind == Kind::scalar || kind == Kind::pseudoscalar ||
         (kind == Kind::axial_vector && components(kind, dimension) == 1);
}

bool is_vector(Kind kind, int64_t dimension) {
  return kind == Kind::vector || (kind == Kind::axial_vector && components(kind, dimension) == dimension);
}

bool has_place(const Quantity& q) {
  return q.kind == Kind::multivector || (q.kind == Kind::vector && q.role == Role::point);
}

}  // namespace weyl
