#include "weyl/data/atoms/stated_units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

using Spelling = std::pair<std::string_view, std::string_view>;

constexpr std::pair<std::string_view, UnitOf> kThings[] = {
    {"energy", UnitOf::energy},   {"energies", UnitOf::energy},    {"length", UnitOf::length},
    {"lengths", UnitOf::length},  {"distance", UnitOf::length},    {"distances", UnitOf::length},
    {"position", UnitOf::length}, {"positions", UnitOf::length},   {"pos", UnitOf::length},
    {"coord", UnitOf::length},    {"coords", UnitOf::length},      {"coordinate", UnitOf::length},
    {"force", UnitOf::force},     {"coordinates", UnitOf::length}, {"forces", UnitOf::force},
    {"gradient", UnitOf::force},  {"gradients", UnitOf::force},    {"stress", UnitOf::stress},
    {"stresses", UnitOf::stress}, {"virial", UnitOf::other},       {"virials", UnitOf::other},
    {"cell", UnitOf::other},      {"lattice", UnitOf::other},      {"", UnitOf::other}};

/// Names of units in small letters, as other programs have them, and ours.
constexpr Spelling kSpellings[] = {{"angstrom", "Angstrom"},
                                   {"angstroms", "Angstrom"},
                                   {"ang", "Angstrom"},
                                   {"nm", "nm"},
                                   {"nanometer", "nm"},
                                   {"nanometers", "nm"},
                                   {"nanometre", "nm"},
                                   {"bohr", "Bohr"},
                                   {"bohrs", "Bohr"},
                                   {"a0", "Bohr"},
                                   {"ev", "eV"},
                                   {"electronvolt", "eV"},
                                   {"electronvolts", "eV"},
                                   {"hartree", "Hartree"},
                                   {"hartrees", "Hartree"},
                                   {"ha", "Hartree"},
                                   {"eh", "Hartree"},
                                   {"rydberg", "Rydberg"},
                                   {"rydbergs", "Rydberg"},
                                   {"ry", "Rydberg"},
                                   {"kcal", "kcal"},
                                   {"kilocal", "kcal"},
                                   {"cal", "cal"},
                                   {"kj", "kJ"},
                                   {"kilojoule", "kJ"},
                                   {"mol", "mol"},
                                   {"mole", "mol"},
                                   {"gpa", "GPa"},
                                   {"gigapascal", "GPa"},
                                   {"kbar", "kbar"},
                                   {"kilobar", "kbar"},
                                   {"kb", "kbar"},
                                   {"bar", "bar"}};

constexpr Spelling kAtomicUnits[] = {{"eV", "Hartree"},
                                     {"Angstrom", "Bohr"},
                                     {"eV/Angstrom", "Hartree/Bohr"},
                                     {"eV/Angstrom^3", "Hartree/Bohr^3"}};

/// Small letters and digits alone.
std::string letters_of(std::string_view s) {
  std::string letters;
  for (const char c : s) {
    if (c != '_' && c != '-' && c != '.' && c != ' ') {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

std::string respelled(std::string_view said) {
  std::string result, name;
  const auto end_name = [&] {
    const std::string small = letters_of(name);
    const auto* found = std::ranges::find(kSpellings, small, &Spelling::first);
    result += found == std::end(kSpellings) ? name : std::string(found->second);
    name.clear();
  };
  for (const char c : said) {
    if (std::string_view(" */^()").find(c) == std::string_view::npos) {
      name += c;
    } else {
      end_name();
      result += c;
    }
  }
  end_name();
  return result;
}

bool is_unit_like(std::string_view unit, std::string_view like) {
  try {
    check_unit(unit, like);
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

}  // namespace

UnitOf unit_said_by(std::string_view key) {
  if (key.find("nit") == std::string_view::npos && key.find("NIT") == std::string_view::npos) {
    return UnitOf::nothing;  // most keys: no memory is taken for them
  }
  const std::string letters = letters_of(key);
  std::string_view rest = letters;
  if (rest.ends_with("unit") || rest.ends_with("units")) {
    rest.remove_suffix(rest.ends_with("s") ? 5 : 4);
  } else if (rest.starts_with("unit")) {
    rest.remove_prefix(rest.starts_with("units") ? 5 : 4);
    if (rest.starts_with("of")) {
      rest.remove_prefix(2);
    }
    if (rest == "cell") {  // a unit cell, as a rule
      return UnitOf::nothing;
    }
  } else {
    return UnitOf::nothing;
  }
  for (const auto& [thing, unit_of] : kThings) {
    if (rest == thing) {
      return unit_of;
    }
  }
  return UnitOf::nothing;
}

namespace {

/// Those for which `holds`, in one line.
template <class Holds>
std::string line_of(std::span<const UnreadUnit> units, Holds holds) {
  std::string line;
  for (const UnreadUnit& unit : units) {
    if (holds(unit)) {
      line += (line.empty() ? "" : ", ") + unit.said;
    }
  }
  return line;
}

}  // namespace

bool is_unread(std::span<const UnreadUnit> units, UnitOf of) {
  return std::ranges::find(units, of, &UnreadUnit::of) != units.end();
}

std::string unread_of(std::span<const UnreadUnit> units, UnitOf of) {
  return line_of(units, [&](const UnreadUnit& u) { return u.of == of || u.of == UnitOf::other; });
}

std::string unread_line(std::span<const UnreadUnit> units) {
  return line_of(units, [](const UnreadUnit&) { return true; });
}

std::string unread_units_line(std::span<const UnreadUnit> unread, const std::array<TakenUnit, 4>& taken,
                              const std::string& option) {
  std::vector<UnreadUnit> said;
  std::string taken_line, options;
  for (const TakenUnit& unit : taken) {
    const bool total = unit.of == UnitOf::energy || unit.of == UnitOf::length;
    bool doubtful = false;
    for (const UnreadUnit& u : unread) {
      if (unit.open && (u.of == unit.of || (u.of == UnitOf::other && total && !unit.stated))) {
        doubtful = true;
        if (std::ranges::find(said, u) == said.end()) {
          said.push_back(u);
        }
      }
    }
    if (doubtful) {
      const auto [things, key] = unit.of == UnitOf::energy   ? std::pair("energies", "energy_unit")
                                 : unit.of == UnitOf::length ? std::pair("lengths", "length_unit")
                                 : unit.of == UnitOf::force  ? std::pair("forces", "force_unit")
                                                             : std::pair("stresses", "stress_unit");
      taken_line += text(taken_line.empty() ? "" : ", ", things, " are taken to be in ", unit.unit);
      options += text(options.empty() ? option + "." : ", .", key);
    }
  }
  return said.empty() ? ""
                      : text("says ", unread_line(said), ", which is not read: ", taken_line,
                             "; say what is meant by ", options);
}

std::string fault_of_unit(std::string_view said, std::string_view like) {
  const std::string ours = respelled(said);
  try {
    parse_unit(ours);
  } catch (const ConfigError&) {
    return "";
  }
  try {
    check_unit(ours, like);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::optional<std::string> unit_in_our_words(std::string_view said, std::string_view like) {
  if (is_unit_like(said, like)) {
    return std::string(said);
  }
  if (std::string ours = respelled(said); is_unit_like(ours, like)) {
    return ours;
  }
  const std::string letters = letters_of(said);
  const auto* atomic = std::ranges::find(kAtomicUnits, like, &Spelling::first);
  return (letters == "atomicunit" || letters == "atomicunits") && atomic != std::end(kAtomicUnits)
             ? std::optional(std::string(atomic->second))
             : std::nullopt;
}

}  // namespace weyl
