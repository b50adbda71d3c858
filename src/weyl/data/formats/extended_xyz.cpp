#include "weyl/data/formats/extended_xyz.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"
#include "weyl/data/formats/extended_xyz_comment.h"
#include "weyl/data/formats/potential_keys.h"

namespace weyl {
namespace {

constexpr int64_t kReserved = 4096;  // atoms, before any is seen

/// What to say of a first line that is a point: three reals or more.
const char* seems_points(std::string_view line) {
  size_t count = 0;
  for (auto word = take_word(line); !word.empty(); word = take_word(line), ++count) {
    if (!parse_real(word)) {
      return "";
    }
  }
  return count >= 3 ? "; texts of points, a cloud a file, are read by data.set = \"clouds\"" : "";
}

const std::string* single_text(const FrameValue& value) {
  const auto* texts = std::get_if<std::vector<std::string>>(&value.values);
  return texts != nullptr && value.shape.empty() ? &texts->front() : nullptr;
}

}  // namespace

ExtendedXyzReader::ExtendedXyzReader(const std::string& path) : lines_(open_bytes(path), path) {}

ExtendedXyzReader::ExtendedXyzReader(std::unique_ptr<ByteSource> source, std::string_view where)
    : lines_(std::move(source), where) {}

std::string ExtendedXyzReader::where() const {
  return text(lines_.where(), ": frame ", lines_.frame(), ", line ", first_line_);
}

bool ExtendedXyzReader::next(AtomsFrame& frame) {
  if (!lines_.next_frame()) {
    require<DataError>(lines_.frame() > 0, lines_.where(), ": must hold at least one frame, holds none");
    return false;
  }
  first_line_ = lines_.number();
  const int64_t count = read_count();
  check(lines_.next(), "the file ends before the comment line of ", count, " atoms");
  read_comment(frame);
  frame.numbers.clear();
  frame.numbers.reserve(std::min(count, kReserved));
  frame.positions.clear();
  frame.positions.reserve(3 * std::min(count, kReserved));
  frame.bonds.clear();
  for (int64_t atom = 0; atom < count; ++atom) {
    check(lines_.next(), "the file ends after ", atom, " of ", count, " atoms");
    read_row(frame);
  }
  return true;
}

int64_t ExtendedXyzReader::read_count() {
  std::string_view line = lines_.line();
  const auto word = take_word(line);
  const auto count = parse_integer(word);
  check(count && *count >= 0 && trimmed(line).empty(), "must be a number of atoms, got ",
        quote(lines_.line(), 40), lines_.frame() == 1 ? seems_points(lines_.line()) : "");
  return *count;
}

void ExtendedXyzReader::read_comment(AtomsFrame& frame) {
  const std::string_view line = lines_.line();
  frame.values.clear();
  frame.cell.reset();
  frame.pbc = {};
  const bool extended =
      line.find("Properties=") != std::string_view::npos || line.find("Lattice=") != std::string_view::npos;
  std::optional<std::string> fault;
  if (extended || line.find('=') != std::string_view::npos) {
    try {
      frame.values = parse_comment(line);
      // A bare word is a key that is true: here it is one of a sentence.
      const bool sentence = std::ranges::any_of(frame.values, [](const FrameValue& value) {
        return (value.name == "Lattice" || value.name == "Properties") &&
               value.values == FrameValues(std::vector<uint8_t>{1});
      });
      if (sentence && !extended) {
        frame.values.clear();
      }
    } catch (const DataError& error) {
      check(!extended, error.what());
      fault = error.what();
    }
  }
  if ((fault || (frame.values.empty() && !extended)) && !trimmed(line).empty()) {
    frame.values.push_back(value_of_text("comment", std::string(trimmed(line))));
  }
  std::string_view properties = plain_columns;
  std::string found;
  std::optional<std::array<bool, 3>> pbc;
  for (const auto& value : frame.values) {
    if (value.name == "Properties") {
      const auto* said = single_text(value);
      check(said != nullptr, "Properties must be name:type:columns, once or more");
      found = *said;
      properties = found;
    } else if (value.name == "Lattice") {
      const auto reals = reals_of(value.values);
      check(reals && reals->size() == 9 &&
                std::ranges::all_of(*reals, [](double x) { return std::isfinite(x); }),
            "Lattice must be 9 finite numbers");
      std::ranges::copy(*reals, frame.cell.emplace().begin());
    } else if (value.name == "pbc") {
      const auto* logicals = std::get_if<std::vector<uint8_t>>(&value.values);
      const auto* integers = std::get_if<std::vector<int64_t>>(&value.values);
      const size_t count = logicals != nullptr   ? logicals->size()
                           : integers != nullptr ? integers->size()
                                                 : 0;
      check(count == 1 || count == 3, "pbc must be one or three of T and F");
      pbc.emplace();
      for (size_t d = 0; d < 3; ++d) {
        const size_t at = count == 1 ? 0 : d;
        const int64_t yes = logicals != nullptr ? (*logicals)[at] : (*integers)[at];
        check(yes == 0 || yes == 1, "pbc must be one or three of T and F");
        (*pbc)[d] = yes == 1;
      }
    }
  }
  std::erase_if(frame.values, [](const FrameValue& value) {
    return value.name == "Properties" || value.name == "Lattice" || value.name == "pbc";
  });
  frame.pbc = pbc.value_or(
      std::array<bool, 3>{frame.cell.has_value(), frame.cell.has_value(), frame.cell.has_value()});
  check(frame.cell || frame.pbc == std::array<bool, 3>{}, "pbc is given without a Lattice");
  check(!frame.cell || spans_its_periods(*frame.cell, frame.pbc),
        "the lattice vectors of periodic directions must be linearly independent");
  read_units(frame);
  read_properties(properties);
  prepare_columns(frame);
}

/// Numbers of one file are in one unit: a frame that says none where the first says one would be read wrongly
/// in silence.
void ExtendedXyzReader::read_units(const AtomsFrame& frame) {
  const auto read = [&](std::string_view key, const char* like, std::string& unit) {
    const FrameValue* value = frame.value(key);
    const std::string* said = value != nullptr ? single_text(*value) : nullptr;
    check(value == nullptr || said != nullptr, quote(key), " must be a unit, such as ", like);
    if (lines_.frame() == 1 && said != nullptr) {
      try {
        check_unit(*said, like);
      } catch (const ConfigError& error) {
        check(false, quote(key), " must be a unit, such as ", like, ": ", error.what());
      }
      unit = *said;
    }
    const std::string_view found = said != nullptr ? std::string_view(*said) : std::string_view();
    const auto words = [](std::string_view x) { return x.empty() ? std::string("none") : quote(x, 40); };
    check(found == unit, quote(key), " must be the same in all frames, frame 1 says ", words(unit),
          ", this one ", words(found));
  };
  read(energy_unit_key, "eV", energy_unit_);
  read(length_unit_key, "Angstrom", length_unit_);
  read(force_unit_key, "eV/Angstrom", force_said_);
  read(stress_unit_key, "eV/Angstrom^3", stress_said_);
  if (lines_.frame() == 1) {
    const std::string length = length_unit_.empty() ? "Angstrom" : length_unit_;
    const std::string force = energy_unit_.empty() ? "" : text(energy_unit_, "/(", length, ")");
    force_unit_ = force_said_.empty() ? force : force_said_;
    stress_unit_ = !stress_said_.empty()  ? stress_said_
                   : energy_unit_.empty() ? ""
                                          : text(energy_unit_, "/(", length, ")^3");
  }
}

std::string_view ExtendedXyzReader::stated_unit_of(std::string_view name) const {
  return name == "forces" ? force_said_ : name == "stress" ? stress_said_ : unit_of(name);
}

std::string_view ExtendedXyzReader::unit_of(std::string_view name) const {
  if (name == "pos") {
    return length_unit_;
  }
  const auto power = length_power_of(name);
  if (!power) {
    return {};
  }
  return *power == 0 ? energy_unit_ : *power == -1 ? force_unit_ : stress_unit_;
}

}  // namespace weyl
