#include "weyl/data/atoms/inspect_frames.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_checks.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stress_tensor.h"
#include "weyl/data/atoms/unit_doubts.h"

namespace weyl {
namespace {

/// In the names of what potentials learn: models learned from nothing where such were missing.
constexpr std::array<std::string_view, 5> kAsked{"energy", "force", "stress", "virial", "dipole"};
constexpr double kFarthest = 5;  // Angstrom

/// Counts frames of one kind and remembers the first.
struct Count {
  int64_t count = 0;
  std::string first;
  void add(const FrameReader& reader) {
    if (count++ == 0) {
      first = reader.where();
    }
  }
  void warn(std::vector<std::string>& warnings, const std::string& what) const {
    if (count > 0) {
      warnings.push_back(text(count, count == 1 ? " frame " : " frames ", what, ", the first is ", first));
    }
  }
};

bool names(std::string_view name, std::string_view what) {
  return std::ranges::search(name, what, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }).begin() != name.end();
}

/// What is known of a field while frames come.
struct Field {
  FrameFieldSummary found;
  size_t type = 0;
  double least = INFINITY, most = -INFINITY;
  Count lone_zeros;  // frames of forces in which some atoms have none

  void add(const FrameValues& values) {
    const auto reals = reals_of(values);
    for (const double x : reals.value_or(std::vector<double>{})) {
      if (std::isfinite(x)) {
        least = std::min(least, x);
        most = std::max(most, x);
      } else {
        ++found.missing;
      }
    }
    if (const auto* logicals = std::get_if<std::vector<uint8_t>>(&values)) {
      for (const uint8_t yes : *logicals) {
        count(yes != 0 ? "T" : "F");
      }
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) {
      std::ranges::for_each(*texts, [&](const std::string& t) { count(t); });
    }
  }

  void count(const std::string& text) {
    if (found.texts.size() < most_texts || found.texts.contains(text)) {
      ++found.texts[text];
    } else {
      found.more_texts = true;
    }
  }

  /// Whether an atom among others has a force of exactly zero: not all of them, as in a frame at rest.
  static bool has_lone_zero(const AtomColumn& column) {
    const auto* forces = std::get_if<std::vector<double>>(&column.values);
    if (forces == nullptr || column.width != 3) {
      return false;
    }
    size_t zeros = 0;
    for (size_t i = 0; i + 2 < forces->size(); i += 3) {
      zeros += (*forces)[i] == 0 && (*forces)[i + 1] == 0 && (*forces)[i + 2] == 0 ? 1 : 0;
    }
    return zeros > 0 && zeros < forces->size() / 3;
  }
};

class Frames {
 public:
  Frames(FrameReader& reader, const std::string& split, Duplicates* seen)
      : reader_(reader), checks_(split, seen) {}

  FrameInspection all() {
    AtomsFrame frame;
    while (reader_.next(frame)) {
      add(frame);
    }
    for (auto& field : fields_) {
      FrameFieldSummary& f = field.found;
      f.min = field.least <= field.most ? field.least + 0.0 : 0;  // -0 is 0
      f.max = field.least <= field.most ? field.most + 0.0 : 0;
      f.unit = reader_.unit_of(f.name);
      warn(field);
      (f.name == "pos" ? result_.fields : result_.labels).push_back(std::move(f));
    }
    if (const std::string line = unread_units_line(result_.unread_units, unread_taken_, "data.molecules");
        !line.empty()) {
      result_.warnings.push_back(text(unread_where_, ": ", line));
    }
    empty_.warn(result_.warnings, "without atoms");
    without_element_.warn(result_.warnings, "with atoms of no element (X)");
    flat_.warn(result_.warnings, "with a flat drawing for a geometry (2D)");
    close_.warn(result_.warnings, text("with atoms nearer than ", overlap, " \u00c5"));
    std::ranges::move(checks_.lines(), std::back_inserter(result_.warnings));
    result_.unit_doubts = doubts_.doubts("data.molecules");
    std::ranges::transform(result_.unit_doubts, std::back_inserter(result_.warnings), &UnitDoubt::line);
    return std::move(result_);
  }

 private:
  Field& field(const std::string& name, Level level, const std::vector<int64_t>& shape,
               const FrameValues& values) {
    const auto key = std::pair(name, level);
    const auto [at, added] = places_.emplace(key, fields_.size());
    if (added) {
      fields_.emplace_back();
      fields_.back().found.name = name;
      fields_.back().found.level = level;
      fields_.back().found.shape = shape;
      fields_.back().type = values.index();
    }
    Field& result = fields_[at->second];
    // Reals may be written as integers, and arrays may be of any length.
    const bool numbers = values.index() <= 1 && result.type <= 1;
    auto& common = result.found.shape;
    result.found.mixed =
        result.found.mixed || common.size() != shape.size() || (values.index() != result.type && !numbers);
    for (size_t d = 0; d < std::min(common.size(), shape.size()); ++d) {
      common[d] = common[d] == shape[d] ? shape[d] : 0;
    }
    ++result.found.frames;
    result.found.filling += filling_ ? 1 : 0;
    return result;
  }

  void add(const AtomsFrame& frame) {
    checks_.add(frame, reader_);
    const int64_t n = frame.size();
    result_.least_atoms = result_.frames == 0 ? n : std::min(result_.least_atoms, n);
    result_.most_atoms = std::max(result_.most_atoms, n);
    ++result_.frames;
    result_.atoms += n;
    result_.cells += frame.cell ? 1 : 0;
    result_.periodic += frame.pbc != std::array<bool, 3>{} ? 1 : 0;
    filling_ = frame.cell && frame.pbc == std::array{true, true, true};
    result_.filling += filling_ ? 1 : 0;
    if (const auto unread = reader_.unread_units(); unread.size() > result_.unread_units.size()) {
      result_.unread_units.assign(unread.begin(), unread.end());
      unread_where_ = reader_.where();
      unread_taken_ = taken_units();
    }
    for (const int z : frame.numbers) {
      ++result_.elements[z];
    }
    if (n == 0) {
      empty_.add(reader_);
    }
    if (std::ranges::find(frame.numbers, 0) != frame.numbers.end()) {
      without_element_.add(reader_);
    }
    const FrameValues places = frame.positions;
    field("pos", Level::node, {3}, places).add(places);
    for (const auto& column : frame.columns) {
      const auto shape = column.width == 1 ? std::vector<int64_t>{} : std::vector{column.width};
      Field& to = field(column.name, Level::node, shape, column.values);
      to.add(column.values);
      if (names(column.name, "force") && Field::has_lone_zero(column)) {
        to.lone_zeros.add(reader_);
      }
    }
    for (const auto& value : frame.values) {
      field(value.name, Level::graph, value.shape, value.values).add(value.values);
    }
    if (const auto* dimensions = frame.value("dimensions");
        dimensions != nullptr && dimensions->values == FrameValues(std::vector<int64_t>{2})) {
      flat_.add(reader_);
    }
    measure(frame);
    doubt(frame);
  }

  /// Angstrom in the unit of the file's places; nothing of a unit that nobody knows.
  static std::optional<double> angstrom_in(std::string_view unit) {
    try {
      return unit.empty() ? 1 : unit_factor("Angstrom", unit);
    } catch (const ConfigError&) {
      return std::nullopt;
    }
  }

  /// Looks at the units of what potentials learn, in those that the file says or, where it says none, in the usual ones.
  void doubt(const AtomsFrame& frame) {
    if (doubts_.enough()) {
      return;
    }
    const auto [energy, forces] = potential_of(frame);
    const auto* stress = stress_of(frame);
    const auto unit = [&](const auto* field, const std::string& usual) {
      const std::string said(field == nullptr ? "" : reader_.unit_of(field->name));
      return said.empty() ? usual : said;
    };
    const std::string length(reader_.unit_of("pos")),
        lengths = length.empty() ? "Angstrom" : length, energies = unit(energy, "eV"),
        unit_of_forces = unit(forces, text(energies, "/(", lengths, ")")),
        stresses = unit(stress, text(energies, "/(", lengths, ")^3"));
    const bool virial = stress != nullptr && is_virial_key(stress->name);
    WorkFrame result{.kinds = {frame.numbers.begin(), frame.numbers.end()},
                     .positions = frame.positions,
                     .cell = frame.cell,
                     .pbc = frame.pbc,
                     .energy = NAN};
    try {
      const double evs = unit_factor(energies, "eV");
      const double angstroms = unit_factor(lengths, "Angstrom");
      std::ranges::for_each(result.positions, [&](double& x) { x *= angstroms; });
      if (result.cell) {
        std::ranges::for_each(*result.cell, [&](double& x) { x *= angstroms; });
      }
      if (const auto e = energy != nullptr ? reals_of(energy->values) : std::nullopt; e && e->size() == 1) {
        result.energy = e->front() * evs;
      }
      if (auto f = forces != nullptr && forces->width == 3 ? reals_of(forces->values) : std::nullopt) {
        const double factor = unit_factor(unit_of_forces, "eV/Angstrom");
        std::ranges::for_each(*f, [&](double& x) { x *= factor; });
        result.forces = std::move(*f);
      }
      auto s = stress != nullptr && result.cell ? reals_of(stress->values) : std::nullopt;
      if (s && s->size() == 6) {
        s = tensor_of_six(*s, StressOrder::voigt);
      }
      if (s && s->size() == 9) {
        const double factor =
            virial ? -unit_factor(unit(stress, energies), "eV") / volume_of(rows_of(result.cell->data()))
                   : unit_factor(stresses, "eV/Angstrom^3");
        std::ranges::transform(*s, result.stress.emplace().begin(), [&](double x) { return factor * x; });
      }
      const bool plain = virial || same_unit(stresses, "eV/Angstrom^3");
      doubts_.take_units(energy != nullptr ? energies : "", !result.stress ? ""
                                                            : plain        ? "eV/Angstrom^3"
                                                                           : stresses);
    } catch (const ConfigError&) {  // units that nobody knows
      return;
    }
    doubts_.add(std::move(result));
  }

  /// The first of the usual energies and forces of one source, else the first of each; null where there is none.
  static std::pair<const FrameValue*, const AtomColumn*> potential_of(const AtomsFrame& frame) {
    const FrameValue* energy = nullptr;
    const AtomColumn* forces = nullptr;
    for (size_t i = 0; i < forces_keys.size(); ++i) {
      const auto* e = i < energy_keys.size() ? frame.value(energy_keys[i]) : nullptr;
      const auto* f = frame.column(forces_keys[i]);
      if (e != nullptr && f != nullptr) {
        return {e, f};
      }
      energy = energy == nullptr ? e : energy;
      forces = forces == nullptr ? f : forces;
    }
    return {energy, forces};
  }

  /// The first of the usual stresses and virials; null where there is none.
  static const FrameValue* stress_of(const AtomsFrame& frame) {
    for (const std::string_view key : stress_keys) {
      if (const auto* stress = frame.value(key)) {
        return stress;
      }
    }
    return nullptr;
  }

  /// The units of the frame at hand where nobody says others. Which numbers are forces and stresses, only the keys of a
  /// training say: there may be some.
  std::array<TakenUnit, 4> taken_units() const {
    const std::string_view energy = reader_.stated_unit_of("energy"), length = reader_.stated_unit_of("pos");
    const auto or_usual = [](std::string_view said, const std::string& usual) {
      return said.empty() ? usual : std::string(said);
    };
    const std::string energies = or_usual(reader_.unit_of("energy"), "eV"),
                      lengths = or_usual(reader_.unit_of("pos"), "Angstrom"),
                      force = text(energies, "/(", lengths, ")");
    return {{{UnitOf::energy, energies, true, !energy.empty()},
             {UnitOf::length, lengths, true, !length.empty()},
             {UnitOf::force, or_usual(reader_.unit_of("forces"), force)},
             {UnitOf::stress, or_usual(reader_.unit_of("stress"), force + "^3")}}};
  }

  void measure(const AtomsFrame& frame) {
    const std::string unit(reader_.unit_of("pos"));
    if (result_.frames == 1 || unit != unit_) {  // files of a folder may differ
      unit_ = unit;
      angstrom_ = angstrom_in(unit);
    }
    const double farthest = result_.shortest.value_or(kFarthest * angstrom_.value_or(1)),
                 near = overlap * angstrom_.value_or(0);
    const auto found = shortest_distance(frame, std::max(farthest, near));
    if (found && found->distance < near) {
      close_.add(reader_);
      if (close_.count == 1) {
        close_.first += ": " + overlap_text(frame, *found) + (unit.empty() ? "" : " (" + unit + ")");
      }
    }
    if (found && found->distance < farthest) {
      result_.shortest = found->distance;
      result_.shortest_where = reader_.where();
    }
  }

  void warn(const Field& field) {
    const FrameFieldSummary& f = field.found;
    auto& warnings = result_.warnings;
    const std::string name = printable(f.name, 40);
    const bool asked =
        std::ranges::any_of(kAsked, [&](std::string_view word) { return names(f.name, word); });
    if (asked && f.frames < result_.frames) {
      warnings.push_back(text(name, ": ", f.frames, " of ", result_.frames, " frames have it"));
    }
    if (f.missing > 0) {
      warnings.push_back(text(name, ": ", f.missing, " numbers are not finite"));
    }
    if (f.mixed) {
      warnings.push_back(text(name, ": not of one type and dimension in all frames"));
    }
    if (names(f.name, "energy") && f.frames > 1 && field.least == field.most) {
      warnings.push_back(text(name, ": is constant, ", field.least));
    }
    field.lone_zeros.warn(warnings,
                          text("in which some atoms have ", name, " of exactly zero (constrained?)"));
  }

  FrameReader& reader_;
  FrameChecks checks_;
  FrameInspection result_;
  bool filling_ = false;  // the frame at hand is periodic along all three lattice vectors
  std::vector<Field> fields_;
  std::map<std::pair<std::string, Level>, size_t> places_;
  Count empty_, without_element_, flat_, close_;
  std::string unit_;  // of places
  std::optional<double> angstrom_;
  std::string unread_where_;               // the frame with units that nobody reads
  std::array<TakenUnit, 4> unread_taken_;  // and what they are taken to be
  UnitDoubts doubts_;
};

}  // namespace

FrameInspection inspect_frames(FrameReader& reader, const std::string& split, Duplicates* seen) {
  return Frames(reader, split, seen).all();
}

std::vector<std::pair<std::string, std::string>> frames_for_inspection(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::pair<std::string, std::string>> result;
  if (fs::is_directory(path)) {
    for (const char* split : {"train", "valid", "test"}) {
      for (const std::string& end : frame_endings()) {
        const std::string file = (fs::path(path) / text(split, end)).string();
        if (fs::exists(file)) {
          result.emplace_back(split, file);
        }
      }
      const std::string folder = (fs::path(path) / split).string();
      if (fs::is_directory(folder) && holds_frames(folder)) {
        result.emplace_back(split, folder);
      }
    }
  }
  if (result.empty()) {
    result.emplace_back("", path);
  }
  return result;
}

std::vector<std::pair<std::string, FrameInspection>> inspect_all_frames(const std::string& path) {
  std::vector<std::pair<std::string, FrameInspection>> found;
  std::vector<std::string> faults, names;
  Duplicates seen;
  for (const auto& [split, frames] : frames_for_inspection(path)) {
    names.push_back(split);
    try {
      const auto reader =
          open_readable_frames(frames, [&](const std::string& reason) { faults.push_back(reason); });
      found.emplace_back(split, inspect_frames(*reader, split, &seen));
    } catch (const DataError& error) {
      if (split.empty()) {
        throw;
      }
      faults.emplace_back(error.what());
    }
  }
  if (found.empty()) {
    throw DataError(faults.front());
  }
  auto& warnings = found.front().second.warnings;
  for (std::string& fault : faults) {
    fault += "; left out";
  }
  warnings.insert(warnings.begin(), faults.begin(), faults.end());
  std::ranges::move(warnings_about_absent(names), std::back_inserter(warnings));
  return found;
}

}  // namespace weyl
