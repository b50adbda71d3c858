#include "weyl/makers/slabs/effective_medium.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

/// Table 1 of the paper: E0 and V0 in eV, s0 in Bohr, eta2, kappa and lambda in 1/Bohr, n0 in 1/Bohr^3. The last four are
/// ASE's.
struct Row {
  int number;
  double E0, s0, V0, eta2, kappa, lambda, n0;
};
constexpr Row kRows[] = {{13, -3.28, 3.00, 1.493, 1.240, 2.000, 1.169, 0.00700},
                         {29, -3.51, 2.67, 2.476, 1.652, 2.740, 1.906, 0.00910},
                         {47, -2.96, 3.01, 2.132, 1.652, 2.790, 1.892, 0.00547},
                         {79, -3.80, 3.00, 2.321, 1.674, 2.873, 2.182, 0.00703},
                         {28, -4.44, 2.60, 3.673, 1.669, 2.757, 1.948, 0.01030},
                         {46, -3.90, 2.87, 2.773, 1.818, 3.107, 2.155, 0.00688},
                         {78, -5.85, 2.90, 4.067, 1.812, 3.145, 2.192, 0.00802},
                         {1, -3.21, 1.31, 0.132, 2.652, 2.790, 3.892, 0.00547},
                         {6, -3.50, 1.81, 0.332, 1.652, 2.790, 1.892, 0.01322},
                         {7, -5.10, 1.88, 0.132, 1.652, 2.790, 1.892, 0.01222},
                         {8, -4.60, 1.95, 0.332, 1.652, 2.790, 1.892, 0.00850}};

/// What the list of neighbours reaches beyond r_c, where theta is 1e-5.
constexpr double kBeyond = 0.5;

}  // namespace

double EffectiveMedium::beta() {
  return 1.809;  // (16 pi / 3)^(1/3) / sqrt(2), to the digits that the parameters were fitted with
}

EffectiveMedium::Element EffectiveMedium::element(int number) {
  const auto row = std::ranges::find(kRows, number, &Row::number);
  require<ConfigError>(row != std::end(kRows),
                       "effective-medium theory: must be of Al, Ni, Cu, Pd, Ag, Pt, Au, H, C, N and O, got ",
                       element_symbol(number));
  const double bohr = unit_factor("Bohr", "Angstrom");
  return {.E0 = row->E0,
          .s0 = row->s0 * bohr,
          .V0 = row->V0,
          .eta2 = row->eta2 / bohr,
          .kappa = row->kappa / bohr,
          .lambda = row->lambda / bohr,
          .n0 = row->n0 / (bohr * bohr * bohr)};
}

double EffectiveMedium::bond_length(int number) {
  return beta() * element(number).s0;
}

double EffectiveMedium::energy_of_atom(int number) {
  return -element(number).E0;
}

EffectiveMedium::EffectiveMedium(std::vector<int> numbers, const CellRows& cell,
                                 const std::array<bool, 3>& periodic)
    : cell_(cell), periodic_(periodic) {
  std::ranges::transform(numbers, std::back_inserter(elements_), element);
  const double largest = std::ranges::max(kRows, {}, &Row::s0).s0 * unit_factor("Bohr", "Angstrom");
  // Half way between the third and the fourth shell; theta has fallen to 1e-4 at the fourth.
  const double third = std::sqrt(3.0), fourth = std::sqrt(4.0);
  cutoff_ = beta() * largest * (third + fourth) / 2;
  steepness_ = std::log(9999.0) / (beta() * largest * fourth - cutoff_);
  constexpr std::pair<double, double> shells[] = {{12, 1}, {6, 2}, {24, 3}};  // atoms, squares of distances
  for (Element& e : elements_) {
    for (const auto& [atoms, square] : shells) {
      const double r = beta() * e.s0 * std::sqrt(square);
      const double weight = atoms / 12 / (1 + std::exp(steepness_ * (r - cutoff_)));
      e.gamma1 += weight * std::exp(-e.eta2 * (r - beta() * e.s0));
      e.gamma2 += weight * std::exp(-e.kappa / beta() * (r - beta() * e.s0));
    }
  }
}

SinglePoint EffectiveMedium::operator()(std::span<const double> positions) const {
  const auto atoms = static_cast<int64_t>(elements_.size());
  NeighbourSearch search{.positions = positions.data(), .atoms = atoms, .periodic = periodic_};
  const bool repeats = periodic_[0] || periodic_[1] || periodic_[2];
  search.cell = repeats ? cell_[0].data() : nullptr;
  search.radius = cutoff_ + kBeyond;
  NeighbourList list;
  require<DataError>(find_neighbours(search, list) == NeighbourFault::none,
                     "effective-medium theory: places must be finite, and the cell must have a volume");
  SinglePoint point;
  point.forces.assign(positions.size(), 0.0);
  std::vector<Vector3> ways;
  std::vector<double> along;  // what a bond pulls, less what it does by sigma; then slopes of sigma by r
  std::vector<double> slopes;
  const double b = beta();
  for (int64_t i = 0; i < atoms; ++i) {
    const Element& me = elements_[static_cast<size_t>(i)];
    const int64_t first = list.offsets[static_cast<size_t>(i)],
                  last = list.offsets[static_cast<size_t>(i) + 1];
    ways.clear();
    along.clear();
    slopes.clear();
    double sigma = 0;
    for (int64_t e = first; e < last; ++e) {
      const auto j = static_cast<size_t>(list.neighbour[static_cast<size_t>(e)]);
      const Shift3& shift = list.shift[static_cast<size_t>(e)];
      Vector3 d{};
      for (size_t c = 0; c < 3; ++c) {
        d[c] = positions[3 * j + c] - positions[3 * static_cast<size_t>(i) + c];
        for (size_t k = 0; k < 3; ++k) {
          d[c] += shift[k] == 0 ? 0 : static_cast<double>(shift[k]) * cell_[k][c];
        }
      }
      const double r = length(d);
      require<DataError>(r > 0, "effective-medium theory: two atoms must not be at one place");
      const Element& other = elements_[j];
      const double theta = 1 / (1 + std::exp(steepness_ * (r - cutoff_))), fall = steepness_ * (1 - theta);
      const double xi = other.n0 / me.n0;
      const double pair = me.V0 / 2 * xi * std::exp(-other.kappa * (r / b - other.s0)) * theta / me.gamma2;
      const double density = xi * std::exp(-other.eta2 * (r - b * other.s0)) * theta / me.gamma1;
      point.energy -= pair;
      sigma += density;
      ways.push_back(unit(d));
      along.push_back(pair * (other.kappa / b + fall));
      slopes.push_back(-density * (other.eta2 + fall));
    }
    if (sigma == 0) {
      point.energy -= me.E0;
      continue;
    }
    const double ds = -std::log(sigma / 12) / (b * me.eta2);
    const double y = std::exp(-me.lambda * ds), z = 6 * me.V0 * std::exp(-me.kappa * ds);
    point.energy += me.E0 * ((1 + me.lambda * ds) * y - 1) + z;
    const double by_sigma = (me.E0 * me.lambda * me.lambda * ds * y + me.kappa * z) / (b * me.eta2 * sigma);
    for (size_t n = 0; n < ways.size(); ++n) {
      const auto j = static_cast<size_t>(list.neighbour[static_cast<size_t>(first) + n]);
      const double slope = along[n] + by_sigma * slopes[n];  // dE / dr
      for (size_t c = 0; c < 3; ++c) {
        point.forces[3 * static_cast<size_t>(i) + c] += slope * ways[n][c];
        point.forces[3 * j + c] -= slope * ways[n][c];
      }
    }
  }
  return point;
}

}  // namespace weyl
