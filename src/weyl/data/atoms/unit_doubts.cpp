#include "weyl/data/atoms/unit_doubts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr int64_t kMostDoubted = 2048, kEnoughDoubted = 400;  // frames
constexpr size_t kLeastDoubted = 8;                           // frames that say the same

/// Hartree-Fock energies of free atoms in Hartree, hydrogen to krypton (Koga, Kanayama, Watanabe and Thakkar, 1999).
/// Correlation, bonds and relativity add less than 2 % each.
constexpr std::array kFreeAtoms{0.5,        2.861680,   7.432727,   14.573023,  24.529061,  37.688619,
                                54.400934,  74.809398,  99.409349,  128.547098, 161.858912, 199.614636,
                                241.876707, 288.854363, 340.718781, 397.504896, 459.482072, 526.817513,
                                599.164787, 676.758186, 759.735718, 848.405997, 942.884338, 1043.35638,
                                1149.86625, 1262.44367, 1381.41455, 1506.87091, 1638.96374, 1777.84812,
                                1923.26101, 2075.35973, 2234.23865, 2399.86761, 2572.44133, 2752.05498};
constexpr double kLeastTotal = 0.985, kMostTotal = 1.05;
constexpr double kShareOfTotals = 0.8;  // of the frames
constexpr int64_t kLastLight = 10;      // neon
constexpr double kLeastOfAnAtom =
    200;  // eV: hydrides of metals have less, and energies per bond that come near
constexpr std::string_view kEnergyUnits[] = {"eV", "kcal/mol", "kJ/mol", "Hartree", "Rydberg", "meV"};

constexpr double kLeastForce = 0.15;  // eV/Angstrom, mean square: below, strains decide
constexpr double kLongestBond = 3;    // Angstrom: cells may be empty for the most part
constexpr double kSameCell = 0.002;   // strain: one of 0.02 of stiff cells adds more than the atoms do
constexpr size_t kLeastOfACell = 3;   // frames
// Of right data 0.07 to 5 (dynamics, relaxations, random structures).
constexpr double kUsualStress = 0.3, kMuchStress = 12, kLittleStress = 0.006, kNearStress = 8;
constexpr double kMuchOfCells = 25, kMuchOfAnAtom = 25;  // the second in eV: bonds bear a few
constexpr std::string_view kStressUnits[] = {"eV/Angstrom^3", "GPa", "kbar", "Hartree/Bohr^3"};

double middle_of(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string about(double x) {
  std::array<char, 32> words{};
  std::snprintf(words.data(), words.size(), "%.3g", x);
  return words.data();
}

double norm_of(const std::array<double, 9>& tensor) {
  return std::sqrt(std::inner_product(tensor.begin(), tensor.end(), tensor.begin(), 0.0));
}

/// How far a cell is strained from another, to first order.
double strain_between(const std::array<double, 9>& from, const std::array<double, 9>& to) {
  const CellRows duals = duals_of(rows_of(from.data())), rows = rows_of(to.data());
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      double gradient = i == j ? -1 : 0;
      for (size_t k = 0; k < 3; ++k) {
        gradient += duals[k][i] * rows[k][j];
      }
      sum += gradient * gradient;
    }
  }
  return std::sqrt(sum);
}

}  // namespace

void UnitDoubts::add(WorkFrame frame) {
  if (enough()) {
    return;
  }
  ++frames_;
  add_total(frame);
  add_stress(frame);
  const auto known = [](double x) { return std::isfinite(x); };
  if (known(frame.energy) && frame.forces.size() == frame.positions.size()) {
    work_.add(std::move(frame));  // which forgets what is not finite
  } else {
    work_.skip();
  }
}

bool UnitDoubts::enough() const {
  const auto seen = [&](int64_t count) { return count == 0 || count >= kEnoughDoubted; };
  return frames_ >= kMostDoubted ||
         (frames_ >= kEnoughDoubted && work_.enough() && seen(with_energy_) && seen(with_stress_));
}

void UnitDoubts::add_total(const WorkFrame& frame) {
  if (!std::isfinite(frame.energy) || frame.kinds.empty()) {
    return;
  }
  ++with_energy_;
  double sum = 0, light = 0;
  for (const int64_t z : frame.kinds) {
    if (z < 1 || z > std::ssize(kFreeAtoms)) {
      return;
    }
    const double atom = kFreeAtoms[static_cast<size_t>(z - 1)];
    sum += atom;
    light += z <= kLastLight ? atom : 0;
  }
  const double ev = sum * unit_factor("Hartree", "eV");
  totals_.push_back(
      {.ratio = -frame.energy / ev,
       .light = 2 * light >= sum && ev >= kLeastOfAnAtom * static_cast<double>(frame.kinds.size())});
}

void UnitDoubts::add_stress(const WorkFrame& frame) {
  const auto n = static_cast<double>(frame.kinds.size());
  if (!frame.stress || !frame.cell || frame.pbc != std::array{true, true, true} || n < 2 ||
      frame.forces.size() != frame.positions.size()) {
    return;
  }
  const double volume = std::abs(volume_of(rows_of(frame.cell->data())));
  const double square =
      std::inner_product(frame.forces.begin(), frame.forces.end(), frame.forces.begin(), 0.0) / n;
  Cell::Stress stress{.deviatoric = *frame.stress,
                      .bound = std::sqrt(n * square) * std::min(std::cbrt(volume / n), kLongestBond)};
  const double pressure = (stress.deviatoric[0] + stress.deviatoric[4] + stress.deviatoric[8]) / 3;
  for (size_t i = 0; i < 9; ++i) {
    stress.deviatoric[i] = volume * (stress.deviatoric[i] - (i % 4 == 0 ? pressure : 0));
  }
  const double size = norm_of(stress.deviatoric);
  if (!std::isfinite(size) || !std::isfinite(stress.bound) || volume <= 0 || size == 0) {
    return;
  }
  ++with_stress_;
  if (square < kLeastForce * kLeastForce) {
    return;
  }
  const auto same = [&](const Cell& other) {
    return other.kinds == frame.kinds && strain_between(other.cell, *frame.cell) < kSameCell;
  };
  auto place = std::ranges::find_if(cells_, same);
  if (place == cells_.end()) {
    cells_.push_back({.kinds = frame.kinds, .cell = *frame.cell});
    place = std::prev(cells_.end());
  }
  place->frames.push_back(stress);
}

std::string UnitDoubts::unit_of_energies(double& ratio) const {
  const auto are_in = [&](std::string_view unit) {
    const double factor = unit_factor(unit, energy_unit_);
    size_t there = 0;
    for (const Total& total : totals_) {
      const double found = total.ratio * factor;
      const bool by_chance = factor > 1 && !total.light;
      there += !by_chance && found > kLeastTotal && found < kMostTotal ? 1 : 0;
    }
    return there >= kLeastDoubted &&
           static_cast<double>(there) >= kShareOfTotals * static_cast<double>(with_energy_);
  };
  for (const std::string_view unit : kEnergyUnits) {
    if (!same_unit(unit, energy_unit_) && are_in(unit)) {
      std::vector<double> ratios;
      std::ranges::transform(totals_, std::back_inserter(ratios), &Total::ratio);
      ratio = middle_of(std::move(ratios));
      return std::string(unit);
    }
  }
  return "";
}

std::string UnitDoubts::units_of_stresses(double& ratio) const {
  std::vector<double> of_one_cell, all, of_an_atom;
  for (const Cell& cell : cells_) {
    std::array<double, 9> mean{};
    const auto count = static_cast<double>(cell.frames.size());
    for (const Cell::Stress& frame : cell.frames) {
      for (size_t i = 0; i < 9; ++i) {
        mean[i] += frame.deviatoric[i] / count;
      }
    }
    for (const Cell::Stress& frame : cell.frames) {
      const double size = norm_of(frame.deviatoric);
      all.push_back(size / frame.bound);
      of_an_atom.push_back(size / static_cast<double>(cell.kinds.size()));
      if (cell.frames.size() >= kLeastOfACell) {
        auto varies = frame.deviatoric;
        for (size_t i = 0; i < 9; ++i) {
          varies[i] -= mean[i];
        }
        of_one_cell.push_back(norm_of(varies) * std::sqrt(count / (count - 1)) / frame.bound);
      }
    }
  }
  const bool one_cell = of_one_cell.size() >= kLeastDoubted;
  if (all.size() < kLeastDoubted) {
    return "";
  }
  ratio = middle_of(one_cell ? std::move(of_one_cell) : std::move(all));
  const bool much = one_cell ? ratio > kMuchStress
                             : ratio > kMuchOfCells && middle_of(std::move(of_an_atom)) > kMuchOfAnAtom;
  if (!much && (ratio > kLittleStress || ratio == 0)) {
    return "";
  }
  std::vector<std::pair<double, std::string_view>> likely;  // the likeliest first
  for (const std::string_view unit : kStressUnits) {
    const double off = std::abs(std::log(ratio * unit_factor(unit, stress_unit_) / kUsualStress));
    if (!same_unit(unit, stress_unit_) && off < std::log(kNearStress)) {
      likely.emplace_back(off, unit);
    }
  }
  std::ranges::sort(likely);
  std::string words;
  for (const auto& [off, unit] : likely) {
    words += text(words.empty() ? "" : " or ", unit);
  }
  return words;
}

std::vector<UnitDoubt> UnitDoubts::doubts(const std::string& option) const {
  std::vector<UnitDoubt> result;
  const auto doubt = [&](const char* key, const std::string& unit, const std::string& line) {
    const std::string first = unit.substr(0, unit.find(" or "));
    result.push_back(
        {key, first, text(line, option.empty() ? "" : text(" (", option, ": ", key, " = \"", first, "\")"))});
  };
  double ratio = 0;
  if (const std::string unit = unit_of_energies(ratio); !unit.empty()) {
    doubt(
        "energy_unit", unit,
        text("energies seem to be in ", unit, ", not ", energy_unit_, ": read so, they are ", about(ratio),
             " times the sum of the energies of the free atoms, which they should be once, as a sum over all "
             "electrons"));
  }
  if (const std::string unit = units_of_stresses(ratio); !unit.empty()) {
    doubt("stress_unit", unit,
          text("stresses seem to be in ", unit, ", not ", stress_unit_, ": read so, stress times volume is ",
               about(ratio), " times what the forces and distances of the atoms let expect"));
  }
  if (const auto law = work_.law(); law && law->is_wrong()) {
    result.push_back(
        {.line = "energies and forces seem not to be of one system of units: " + work_fault(*law, option)});
  }
  return result;
}

}  // namespace weyl
