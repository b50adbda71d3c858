#include "weyl/data/atoms/trajectory_work.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr size_t kLeast = 12;  // pairs
constexpr double kCorrelation = 0.9, kLow = 0.8, kHigh = 1.25;
// The long steps of relaxations give slopes of 0.7 to 0.8 and go on by 1.5 to 1.8: a slope that no confusion of units
// has, which begin with Bohr and Angstrom, must be of frames that are closer.
constexpr double kNearLow = 0.55, kNearHigh = 1.8, kOnwardNear = 2.25;
constexpr double kOnward = 1.75;  // 5 fs apart hydrogen's vibrations leave 2.2, displacements at random 1.0
constexpr double kOutlier = 20;   // medians
constexpr double kMost = 0.6;     // of the pairs must say it one by one: a few long steps decide nothing
// A scan goes straight on, and its steps may be so long that the mean force is not that of the way; then the forces at both
// ends allow most of the changes.
constexpr double kStraight = 3.9, kAllowed = 1. / 3;
constexpr double kSame = 1 + 1e-6;  // lengths of steps that differ by the rounding of places
constexpr int kDecimals = 12;

bool finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

/// |a + b|^2 over the mean of |a|^2 and |b|^2, from 0 to 4.
double onward_of(const std::vector<double>& a, const std::vector<double>& b) {
  double both = 0, each = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] + b[i]) * (a[i] + b[i]);
    each += 0.5 * (a[i] * a[i] + b[i] * b[i]);
  }
  return both / each;
}

/// Decimals with which a number is written, at most kDecimals: as many as leave nothing of it.
int decimals_of(double x) {
  double scale = 1;
  for (int d = 0; d < kDecimals; ++d, scale *= 10) {
    if (std::abs(x * scale - std::round(x * scale)) <= 4e-16 * std::abs(x * scale)) {
      return d;
    }
  }
  return kDecimals;
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Energies in one unit beside forces in another along places in a third: what the slope is when they are read as
/// if they were of one system of units.
struct Mixture {
  std::string_view energy, force, length;

  double slope() const { return unit_factor(text("(", force, ")*(", length, ")"), energy); }
  std::string words() const {
    return text("forces in ", force, " beside energies in ", energy,
                length == "Angstrom" ? "" : text(" and places in ", length));
  }
  /// The options that say so.
  std::string options() const {
    std::string all;
    const auto add = [&](const char* key, std::string_view unit, std::string_view usual) {
      all += unit == usual ? "" : text(all.empty() ? "" : ", ", key, " = \"", unit, "\"");
    };
    add("energy_unit", energy, "eV");
    add("length_unit", length, "Angstrom");
    // With an energy or a length of its own the force would be theirs.
    add("force_unit", force, energy == "eV" && length == "Angstrom" ? "eV/Angstrom" : "");
    return all;
  }
};

constexpr Mixture mixtures[] = {{"kcal/mol", "eV/Angstrom", "Angstrom"},
                                {"eV", "kcal/mol/Angstrom", "Angstrom"},
                                {"kJ/mol", "eV/Angstrom", "Angstrom"},
                                {"eV", "kJ/mol/Angstrom", "Angstrom"},
                                {"kJ/mol", "kcal/mol/Angstrom", "Angstrom"},
                                {"kcal/mol", "kJ/mol/Angstrom", "Angstrom"},
                                {"eV", "Hartree/Angstrom", "Angstrom"},
                                {"Hartree", "eV/Angstrom", "Angstrom"},
                                {"eV", "Hartree/Bohr", "Angstrom"},
                                {"Hartree", "Hartree/Bohr", "Angstrom"},
                                {"eV", "eV/Angstrom", "Bohr"},
                                {"eV", "Rydberg/Angstrom", "Angstrom"},
                                {"eV", "Rydberg/Bohr", "Angstrom"},
                                {"Rydberg", "eV/Angstrom", "Angstrom"},
                                {"kcal/mol", "Hartree/Angstrom", "Angstrom"},
                                {"kcal/mol", "Hartree/Bohr", "Angstrom"},
                                {"Hartree", "kcal/mol/Angstrom", "Angstrom"},
                                {"meV", "eV/Angstrom", "Angstrom"},
                                {"eV", "meV/Angstrom", "Angstrom"}};

std::string three_digits(double x) {
  std::array<char, 32> words{};
  std::snprintf(words.data(), words.size(), "%.3g", x);
  return words.data();
}

/// What explains a positive slope; empty: nothing known.
std::string explanation(double slope, double atoms, std::string& options) {
  constexpr double kNear = 0.08;  // of the logarithm: neighbours of the list are 0.057 apart at the least
  std::string words;
  double least = kNear;
  const auto look = [&](double expected, const std::string& said, const std::string& keys) {
    const double far = std::abs(std::log(slope / expected));
    if (far < least) {
      least = far;
      words = said;
      options = keys;
    }
  };
  for (const Mixture& mixture : mixtures) {
    look(mixture.slope(), mixture.words(), mixture.options());
  }
  look(1 / unit_factor("Hartree/Bohr", "eV/Angstrom"), "forces in eV/Angstrom that are read as Hartree/Bohr",
       "");
  if (atoms > 1.5 && std::abs(std::log(slope * atoms)) < kNear) {
    words += text(words.empty() ? "" : " or ", "energies per atom in place of those of all atoms");
  }
  return words;
}

}  // namespace

bool WorkLaw::is_wrong() const {
  const bool near = slope > kNearLow && slope < kNearHigh;
  if (std::abs(correlation) <= kCorrelation || onward <= (near ? kOnwardNear : kOnward)) {
    return false;
  }
  if (onward > kStraight && beyond < kAllowed) {
    return false;
  }
  return (slope < kLow && spread < kLow && below >= kMost) ||
         (slope > kHigh && spread > kHigh && above >= kMost);
}

void TrajectoryWork::add(WorkFrame frame) {
  const size_t n = frame.kinds.size();
  require(frame.positions.size() == 3 * n && frame.forces.size() == 3 * n,
          "trajectory: places and forces must be of ", n, " atoms");
  if (enough()) {
    return;
  }
  if (!std::isfinite(frame.energy) || !finite(frame.positions) || !finite(frame.forces)) {
    skip();
    return;
  }
  decimals_ = std::max(decimals_, decimals_of(frame.energy));
  if (last_ && last_->kinds == frame.kinds && last_->cell == frame.cell && last_->pbc == frame.pbc) {
    double at_start = 0, at_end = 0, moved = 0;
    std::vector<double> steps(3 * n);
    for (size_t i = 0; i < n; ++i) {
      Vector3 step{};
      for (size_t d = 0; d < 3; ++d) {
        step[d] = frame.positions[3 * i + d] - last_->positions[3 * i + d];
      }
      if (frame.cell) {
        step = nearest_image(step, rows_of(frame.cell->data()), frame.pbc);
      }
      for (size_t d = 0; d < 3; ++d) {
        at_start -= last_->forces[3 * i + d] * step[d];
        at_end -= frame.forces[3 * i + d] * step[d];
        moved = std::max(moved, std::abs(step[d]));
        steps[3 * i + d] = step[d];
      }
    }
    if (const double work = 0.5 * (at_start + at_end); moved > 0 && std::isfinite(work)) {
      steps_.push_back({last_->energy, frame.energy - last_->energy, work, moved, at_start, at_end});
      atoms_ += static_cast<double>(n);
      if (last_step_.size() == steps.size()) {
        if (const double onward = onward_of(last_step_, steps); std::isfinite(onward)) {
          onward_ += onward;
          ++threes_;
        }
      }
      last_step_ = std::move(steps);
    }
  } else {
    last_step_.clear();
  }
  last_ = std::move(frame);
}

std::optional<WorkLaw> TrajectoryWork::law() const {
  // What printed digits cannot tell: ten times the last decimal, or the last bits.
  const double last_digit = decimals_ < kDecimals ? std::pow(10., -decimals_) : 0;
  std::vector<Step> steps;
  for (const Step& step : steps_) {
    if (std::abs(step.change) > std::max(10 * last_digit, 1e-12 * std::abs(step.energy)) && step.work != 0) {
      steps.push_back(step);
    }
  }
  if (steps.size() < kLeast) {
    return std::nullopt;
  }
  // One broken frame must not decide for all others.
  std::vector<double> changes, works;
  for (const Step& step : steps) {
    changes.push_back(std::abs(step.change));
    works.push_back(std::abs(step.work));
  }
  const double change = kOutlier * median(changes), work = kOutlier * median(works);
  std::erase_if(steps, [&](const Step& s) { return std::abs(s.change) > change || std::abs(s.work) > work; });
  if (steps.size() < kLeast) {
    return std::nullopt;
  }
  std::ranges::sort(steps, {}, &Step::moved);
  const double longest = kSame * steps[std::max(kLeast, steps.size() / 2) - 1].moved;
  std::erase_if(steps, [&](const Step& s) { return s.moved > longest; });
  WorkLaw law{.pairs = static_cast<int64_t>(steps.size()),
              .atoms = atoms_ / static_cast<double>(steps_.size()),
              .onward = threes_ > 0 ? onward_ / static_cast<double>(threes_) : 0};
  double changes_2 = 0, works_2 = 0, both = 0, weight = 0;
  const double share = 1 / static_cast<double>(steps.size());
  for (const Step& s : steps) {
    const auto [least, most] = std::minmax(s.at_start, s.at_end);
    law.below += s.change / s.work < kLow ? share : 0;
    law.above += s.change / s.work > kHigh ? share : 0;
    law.beyond += s.change < least || s.change > most ? share : 0;
    changes_2 += s.change * s.change;
    works_2 += s.work * s.work;
    both += s.change * s.work;
    weight += std::abs(s.work);
  }
  law.correlation = both / std::sqrt(changes_2 * works_2);
  law.spread = std::copysign(std::sqrt(changes_2 / works_2), both);
  // The line of least absolute deviations through the origin: the median of the slopes, weighted by |work|.
  std::ranges::sort(steps, {}, [](const Step& s) { return s.change / s.work; });
  double below = 0;
  for (const Step& s : steps) {
    below += std::abs(s.work);
    if (below >= 0.5 * weight) {
      law.slope = s.change / s.work;
      break;
    }
  }
  return law;
}

std::string work_fault(const WorkLaw& law, const std::string& option) {
  const double size = std::abs(law.slope);
  std::string options, words;
  if (size < kLow || size > kHigh) {
    words = explanation(size, law.atoms, options);
  }
  if (law.slope < 0) {
    words =
        text("the gradient of the energy in place of the forces", words.empty() ? "" : ", and with ", words);
    options = text("force_sign = \"gradient\"", options.empty() ? "" : ", ", options);
  }
  return text("along ", law.pairs, " pairs of frames that follow one another the energy changes by ",
              three_digits(law.slope), " times the work of the forces, not once (correlation ",
              three_digits(law.correlation), ")", words.empty() ? "" : text(", as with ", words),
              options.empty() || option.empty() ? "" : text(" (", option, ": ", options, ")"));
}

}  // namespace weyl
