#include "weyl/core/units.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

using Dimension = std::array<int, 6>;
constexpr Dimension kNone{}, kLength{1}, kMass{0, 1}, kTime{0, 0, 1}, kCharge{0, 0, 0, 1},
    kTemperature{0, 0, 0, 0, 1}, kAtoms{0, 0, 0, 0, 0, 1}, kFrequency{0, 0, -1}, kEnergy{2, 1, -2},
    kPressure{-1, 1, -2}, kDipole{1, 0, 0, 1};

// CODATA 2022; the first two are exact.
constexpr double kElementary = 1.602176634e-19;  // C
constexpr double kAvogadro = 6.02214076e23;
constexpr double kHartree = 4.3597447222060e-18;  // J
constexpr double kBohr = 5.29177210544e-11;       // m
constexpr double kAmu = 1.66053906892e-27;        // kg
constexpr double kElectron = 9.1093837139e-31;    // kg
constexpr double kCalorie = 4.184;                // J, thermochemical
constexpr double kDebye = 1e-21 / 299792458;      // C m

struct NamedUnit {
  std::string_view name;
  double factor;
  Dimension dimension;
};

constexpr NamedUnit units[] = {
    {"Angstrom", 1e-10, kLength},
    {"angstrom", 1e-10, kLength},
    {"Ang", 1e-10, kLength},
    {"A", 1e-10, kLength},
    {"\u00c5", 1e-10, kLength},  // the letter; the sign of old fonts is another one
    {"\u212b", 1e-10, kLength},
    {"Bohr", kBohr, kLength},
    {"bohr", kBohr, kLength},
    {"a0", kBohr, kLength},
    {"pm", 1e-12, kLength},
    {"nm", 1e-9, kLength},
    {"um", 1e-6, kLength},
    {"mm", 1e-3, kLength},
    {"cm", 1e-2, kLength},
    {"m", 1, kLength},
    {"metre", 1, kLength},
    {"meter", 1, kLength},
    {"km", 1e3, kLength},
    {"eV", kElementary, kEnergy},
    {"ev", kElementary, kEnergy},
    {"meV", 1e-3 * kElementary, kEnergy},
    {"keV", 1e3 * kElementary, kEnergy},
    {"Hartree", kHartree, kEnergy},
    {"hartree", kHartree, kEnergy},
    {"Ha", kHartree, kEnergy},
    {"Eh", kHartree, kEnergy},
    {"mHartree", 1e-3 * kHartree, kEnergy},
    {"mHa", 1e-3 * kHartree, kEnergy},
    {"Rydberg", kHartree / 2, kEnergy},
    {"rydberg", kHartree / 2, kEnergy},
    {"Ry", kHartree / 2, kEnergy},
    {"cal", kCalorie, kEnergy},
    {"kcal", 1e3 * kCalorie, kEnergy},
    {"J", 1, kEnergy},
    {"kJ", 1e3, kEnergy},
    {"mol", kAvogadro, kNone},
    {"fs", 1e-15, kTime},
    {"ps", 1e-12, kTime},
    {"ns", 1e-9, kTime},
    {"us", 1e-6, kTime},
    {"ms", 1e-3, kTime},
    {"s", 1, kTime},
    {"sec", 1, kTime},
    {"second", 1, kTime},
    {"seconds", 1, kTime},
    {"min", 60, kTime},
    {"h", 3600, kTime},
    {"Hz", 1, kFrequency},
    {"GHz", 1e9, kFrequency},
    {"THz", 1e12, kFrequency},
    {"amu", kAmu, kMass},
    {"u", kAmu, kMass},
    {"Da", kAmu, kMass},
    {"me", kElectron, kMass},
    {"g", 1e-3, kMass},
    {"kg", 1, kMass},
    {"e", kElementary, kCharge},
    {"C", 1, kCharge},
    {"Debye", kDebye, kDipole},
    {"debye", kDebye, kDipole},
    {"D", kDebye, kDipole},
    {"Pa", 1, kPressure},
    {"kPa", 1e3, kPressure},
    {"MPa", 1e6, kPressure},
    {"GPa", 1e9, kPressure},
    {"bar", 1e5, kPressure},
    {"kbar", 1e8, kPressure},
    {"atm", 101325, kPressure},
    {"K", 1, kTemperature},
    {"atom", 1, kAtoms},
};

/// The words that other programs have for what has another name here.
constexpr std::pair<std::string_view, std::string_view> names_elsewhere[] = {
    {"kB", "kbar"}, {"kb", "kbar"}, {"a.u.", "Hartree' or 'Bohr"}, {"au", "Hartree' or 'Bohr"}};

/// The end of a message about a name that is none.
std::string meant_by(std::string_view word) {
  for (const auto& [elsewhere, here] : names_elsewhere) {
    if (word == elsewhere) {
      return text("; did you mean '", here, "'?");
    }
  }
  std::vector<std::string> names;
  for (const NamedUnit& unit : units) {
    names.emplace_back(unit.name);
  }
  const std::string near = nearest(word, names);
  return near.empty() ? "" : text("; did you mean '", near, "'?");
}

/// to *= by^power
void multiply(Unit& to, const Unit& by, int power) {
  to.factor *= std::pow(by.factor, power);
  for (size_t d = 0; d < to.dimension.size(); ++d) {
    to.dimension[d] += power * by.dimension[d];
  }
}

/// product := power { (* | . | / | blank) power };  power := (name | 1 | "(" product ")") [ ^ integer ]
class UnitReader {
 public:
  explicit UnitReader(std::string_view unit) : whole_(unit), rest_(unit) {}

  Unit all() {
    const Unit result = product(0);
    check(rest_.empty(), "a bracket is closed that was not opened");
    return result;
  }

 private:
  static constexpr int kDeepest = 8, kHighest = 9;

  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    require<ConfigError>(holds, "unit ", quote(whole_, 40), ": ", parts...);
  }

  void skip_blanks() {
    while (!rest_.empty() && rest_[0] == ' ') {
      rest_.remove_prefix(1);
    }
  }

  bool take(std::string_view sign) {
    skip_blanks();
    const bool found = rest_.starts_with(sign);
    rest_.remove_prefix(found ? sign.size() : 0);
    return found;
  }

  Unit product(int depth) {
    check(depth < kDeepest, "must have less than ", kDeepest, " brackets in one another");
    Unit result;
    multiply(result, power(depth), 1);
    for (skip_blanks(); !rest_.empty() && rest_[0] != ')'; skip_blanks()) {
      const bool divide = take("/");
      if (!divide && !take("*")) {
        take("\u00b7");
      }
      multiply(result, power(depth), divide ? -1 : 1);
    }
    return result;
  }

  Unit power(int depth) {
    Unit base;
    if (take("(")) {
      base = product(depth + 1);
      check(take(")"), "a bracket is not closed");
    } else {
      base = name();
    }
    if (!take("^") && !take("**")) {
      return base;
    }
    skip_blanks();
    size_t end = 0;
    while (end < rest_.size() && (rest_[end] == '-' || (rest_[end] >= '0' && rest_[end] <= '9'))) {
      ++end;
    }
    const auto exponent = parse_integer(rest_.substr(0, end));
    check(exponent && *exponent >= -kHighest && *exponent <= kHighest, "an exponent must be -", kHighest,
          " .. ", kHighest, ", got ", quote(rest_, 20));
    rest_.remove_prefix(end);
    Unit result;
    multiply(result, base, static_cast<int>(*exponent));
    return result;
  }

  Unit name() {
    skip_blanks();
    const size_t end = std::min(rest_.find_first_of(" */^()"), rest_.size());
    auto word = rest_.substr(0, end);
    word = word.substr(0, word.find("\u00b7"));
    if (word.empty()) {
      check(false, "a name is missing", rest_.empty() ? " at the end" : text(" before ", quote(rest_, 20)));
    }
    rest_.remove_prefix(word.size());
    if (word == "1") {
      return {};
    }
    const auto* found = std::ranges::find(units, word, &NamedUnit::name);
    if (found ==
        std::end(units)) {  // looked for among all names only now: units are read in each call of a potential
      check(false, "unknown name ", quote(word, 20), meant_by(word));
    }
    return {found->factor, found->dimension};
  }

  std::string_view whole_, rest_;
};

}  // namespace

Unit parse_unit(std::string_view unit) {
  return UnitReader(unit).all();
}

double unit_factor(std::string_view from, std::string_view to) {
  const Unit a = parse_unit(from), b = parse_unit(to);
  require<ConfigError>(a.dimension == b.dimension, "units: ", quote(from, 40), " and ", quote(to, 40),
                       " measure different things");
  return a.factor / b.factor;
}

void check_unit(std::string_view unit, std::string_view like) {
  const Unit found = parse_unit(unit), wanted = parse_unit(like);
  if (found.dimension == kEnergy && wanted.dimension != kEnergy) {
    auto rest = wanted.dimension;
    for (size_t d = 0; d < rest.size(); ++d) {
      rest[d] -= kEnergy[d];
    }
    const bool per_length = rest == Dimension{rest[0]} && rest[0] < 0;
    require<ConfigError>(!per_length, "units: ", quote(unit, 40), " and ", quote(like, 40),
                         " measure different things; did you mean '", unit, "/Angstrom",
                         rest[0] == -1 ? "" : text("^", -rest[0]), "'?");
  }
  constexpr double kMoles = 1e19;  // a calorie is 2.6e19 eV, a joule, which programs in SI units have, 6.2e18
  if (unit_factor(unit, like) > kMoles) {
    std::string per_mole(unit);
    for (const std::string_view name : {"kcal", "cal", "kJ"}) {
      if (const size_t at = per_mole.find(name); at != std::string::npos) {
        per_mole.insert(at + name.size(), "/mol");
        break;
      }
    }
    throw ConfigError(text("unit ", quote(unit, 40), ": must be of one molecule's size, got ",
                           unit_factor(unit, like), " ", like, "; did you mean '", per_mole, "'?"));
  }
}

bool same_unit(std::string_view a, std::string_view b) {
  return a == b || std::abs(unit_factor(a, b) - 1) < 1e-9;
}

}  // namespace weyl
