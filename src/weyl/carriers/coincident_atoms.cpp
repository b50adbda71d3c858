#include "weyl/carriers/coincident_atoms.h"

#include <ATen/ops/isfinite.h>
#include <array>

#include "weyl/algebra/lattice/closest_pair.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"

namespace weyl {

std::string coincident_atoms(const Points& points, const Interface& interface) {
  const Tensor& types = points.types;
  const auto shaped = [&](const Tensor& x, int64_t numbers) { return !x.defined() || x.numel() == numbers; };
  const int64_t N = points.nodes(), B = points.count();
  if (interface.elements.empty() || N == 0 || !types.defined() || !shaped(types, N) ||
      !shaped(points.positions, 3 * N) || !shaped(points.cell, 9 * B) || !shaped(points.pbc, 3 * B) ||
      (points.cell.defined() && !at::isfinite(points.cell).all().item<bool>())) {
    return "";  // what is misshapen is refused as that
  }
  const double unit = interface.length_unit.empty() ? 1 : unit_factor(interface.length_unit, "Angstrom");
  const auto on_host = [](const Tensor& x, at::ScalarType dtype) {
    return x.detach().to(at::kCPU, dtype).contiguous();
  };
  const Tensor places = on_host(points.positions, at::kDouble), kinds = on_host(types, at::kLong);
  const Tensor cells = points.cell.defined() ? on_host(points.cell, at::kDouble) : Tensor(),
               periods = points.pbc.defined() ? on_host(points.pbc, at::kBool) : Tensor();
  for (int64_t g = 0; g < B; ++g) {
    const int64_t begin = points.graphs.offsets[static_cast<size_t>(g)], atoms = points.graphs.size(g);
    std::array<bool, 3> periodic{};
    for (size_t axis = 0; cells.defined() && axis < 3; ++axis) {
      periodic[axis] =
          !periods.defined() || periods.const_data_ptr<bool>()[3 * g + static_cast<int64_t>(axis)];
    }
    const auto found =
        closest_pair({places.const_data_ptr<double>() + 3 * begin, static_cast<size_t>(3 * atoms)},
                     cells.defined() ? cells.const_data_ptr<double>() + 9 * g : nullptr, periodic,
                     least_distance_of_atoms / unit);
    if (!found) {
      continue;
    }
    const auto name = [&](int64_t atom) {
      const auto kind = static_cast<size_t>(kinds.const_data_ptr<int64_t>()[begin + atom]);
      return text(atom + 1, " (", kind < interface.elements.size() ? interface.elements[kind] : "?", ")");
    };
    return text("atoms ", name(found->first), " and ", name(found->second),
                B > 1 ? text(" of sample ", g + 1, " of ", B) : "", " are ", found->distance * unit,
                " Angstrom apart, which must be at least ", least_distance_of_atoms);
  }
  return "";
}

}  // namespace weyl
