#include "weyl/data/atoms/extended_xyz.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <tuple>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz_comment.h"
#include "weyl/data/atoms/ipi_comment.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stress_tensor.h"
#include "weyl/data/containers/byte_source.h"

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

/// Whether a value can be what the key says in our spelling.
bool may_be(std::string_view key, const FrameValue& value) {
  if (key == "Properties") {
    const std::string* said = single_text(value);
    return said != nullptr && std::ranges::count(*said, ':') >= 2;
  }
  const size_t count = count_of(value.values);
  return key == "Lattice"
             ? count == 9 && reals_of(value.values)
             : (count == 1 || count == 3) && value.values.index() != 0 && value.values.index() != 3;
}

/// Gives `lattice`, `PBC` and `properties` the names that are read: a cell that is not seen is an error in silence.
void rename_in_any_case(AtomsFrame& frame) {
  for (const std::string_view key : {"Lattice", "Properties", "pbc"}) {
    if (frame.value(key) != nullptr) {
      continue;
    }
    const auto found = std::ranges::find_if(frame.values, [&](const FrameValue& value) {
      return value.name.size() == key.size() && in_small_letters(value.name) == in_small_letters(key) &&
             may_be(key, value);
    });
    if (found != frame.values.end()) {
      found->name = key;
    }
  }
}

}  // namespace

ExtendedXyzReader::ExtendedXyzReader(const std::string& path) : lines_(open_bytes(path), path) {}

ExtendedXyzReader::ExtendedXyzReader(std::unique_ptr<ByteSource> source, std::string_view where)
    : lines_(std::move(source), where) {}

std::string ExtendedXyzReader::where() const {
  return lines_.where(first_line_);
}

/// The first frame says the units of all.
void ExtendedXyzReader::go_to(const FramePlace& place) {
  if (AtomsFrame first; place.at > 0 && lines_.frame() == 0) {
    next(first);
  }
  lines_.go_to(place.at);
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
  isotopes_.clear();
  for (int64_t atom = 0; atom < count; ++atom) {
    check(lines_.next(), "the file ends after ", atom, " of ", count, " atoms");
    read_row(frame);
  }
  add_isotopes(frame);
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
  if (frame.values.size() == 1 && !extended) {
    read_ipi(frame, line);
  }
  rename_in_any_case(frame);
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

/// The cell, and the unit of places, that i-PI's comment says.
void ExtendedXyzReader::read_ipi(AtomsFrame& frame, std::string_view line) {
  std::optional<IpiComment> said;
  try {
    said = parse_ipi_comment(line);
  } catch (const DataError& error) {
    check(false, error.what());
  }
  if (!said) {
    return;
  }
  check(said->quantity.empty() || said->quantity == "positions" || said->quantity == "x_centroid",
        "the columns must be i-PI's positions, got its ", quote(said->quantity, 40));
  const auto unit = unit_in_our_words(said->unit, "Angstrom"),
             cell_unit = unit_in_our_words(said->cell_unit, "Angstrom");
  if (said->unit.empty()) {
    leave_unread(UnitOf::length, "comment", "of i-PI, without the unit of positions");
  } else if (unit) {
    frame.set(FrameValue{std::string(length_unit_key), {}, std::vector{*unit}});
  } else {
    leave_unread(UnitOf::length, "positions", said->unit);
  }
  double factor = 1;
  if (!said->cell_unit.empty() && said->cell_unit != said->unit) {
    check(unit && cell_unit, "the units of i-PI's positions and cell must be known where they differ, got ",
          quote(said->unit, 40), " and ", quote(said->cell_unit, 40));
    factor = unit_factor(*cell_unit, *unit);
  }
  std::ranges::for_each(said->cell, [&](double& x) { x *= factor; });
  frame.cell = said->cell;
}

void ExtendedXyzReader::leave_unread(UnitOf of, std::string_view key, std::string_view said) {
  UnreadUnit unit{of, text(quote(key, 40), " = ", quote(said, 40))};
  constexpr size_t most = 8;
  if (unread_units_.size() < most && std::ranges::find(unread_units_, unit) == unread_units_.end()) {
    unread_units_.push_back(std::move(unit));
  }
}

/// Gives a value that says a unit our key and our words for it, or notes that it is not understood. False: the frame
/// has another value that says the same.
bool ExtendedXyzReader::rename_unit(const AtomsFrame& frame, FrameValue& given, UnitOf what) {
  using Said = std::tuple<std::string_view, std::string_view, const std::string*>;
  const std::string* said = single_text(given);
  const auto [key, like, unit] = what == UnitOf::energy   ? Said(energy_unit_key, "eV", &energy_unit_)
                                 : what == UnitOf::length ? Said(length_unit_key, "Angstrom", &length_unit_)
                                 : what == UnitOf::force
                                     ? Said(force_unit_key, "eV/Angstrom", &force_said_)
                                     : Said(stress_unit_key, "eV/Angstrom^3", &stress_said_);
  if (said == nullptr) {
    check(given.name != key, quote(key), " must be a unit, such as ", like);
    return true;  // a number counts something
  }
  if (given.name == key && *said == *unit) {
    return true;  // as in the first frame
  }
  if (what == UnitOf::other) {
    leave_unread(what, given.name, *said);
    return true;
  }
  const auto ours = unit_in_our_words(*said, like);
  const FrameValue* other = given.name != key ? frame.value(key) : nullptr;
  const std::string* first = other != nullptr ? single_text(*other) : nullptr;
  const auto theirs = first != nullptr ? unit_in_our_words(*first, like) : std::nullopt;
  if (!ours) {
    const std::string fault = fault_of_unit(*said, like);
    check(fault.empty(), quote(given.name, 40), " must be a unit, such as ", like, ": ", fault);
    if (!theirs) {
      leave_unread(what, given.name, *said);
    }
    return true;
  }
  if (other != nullptr) {
    check(theirs && same_unit(*theirs, *ours), quote(key), " and ", quote(given.name, 40),
          " must say one unit, got ", first != nullptr ? quote(*first, 40) : "no text", " and ",
          quote(*said, 40));
    return false;
  }
  given = {std::string(key), {}, std::vector{*ours}};
  return true;
}

/// Numbers of one file are in one unit: a frame that says none where the first says one would be read wrongly
/// in silence.
void ExtendedXyzReader::read_units(AtomsFrame& frame) {
  for (size_t i = 0; i < frame.values.size();) {
    const UnitOf what = unit_said_by(frame.values[i].name);
    if (what != UnitOf::nothing && !rename_unit(frame, frame.values[i], what)) {
      frame.values.erase(frame.values.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  const auto read = [&](std::string_view key, const char* like, std::string& unit) {
    const FrameValue* value = frame.value(key);
    const std::string* said = value != nullptr ? single_text(*value) : nullptr;
    const bool known = said != nullptr && (*said == unit || unit_in_our_words(*said, like));
    const std::string_view found = known ? std::string_view(*said) : std::string_view();
    if (lines_.frame() == 1) {
      unit = found;
    }
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
    // A unit of their own that nobody reads is not that of energies by lengths.
    const auto unit = [&](const std::string& said, UnitOf of, const char* power) {
      const bool known = said.empty() && !energy_unit_.empty() && !is_unread(unread_units_, of);
      return known ? text(energy_unit_, "/(", length, ")", power) : said;
    };
    force_unit_ = unit(force_said_, UnitOf::force, "");
    stress_unit_ = unit(stress_said_, UnitOf::stress, "^3");
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

// The columns of a frame of extended xyz: what `Properties` says of them, and the rows of atoms.

namespace {

constexpr int64_t kWidest = 1 << 20;

template <class T>
void prepare(FrameValues& values) {
  if (auto* same = std::get_if<std::vector<T>>(&values)) {
    same->clear();
  } else {
    values.emplace<std::vector<T>>();
  }
}

}  // namespace

void ExtendedXyzReader::read_properties(std::string_view properties) {
  if (properties == properties_) {
    return;
  }
  properties_.clear();
  columns_.clear();
  std::set<std::string_view> names;
  bool species = false, positions = false;
  std::vector<std::string_view> parts;
  for (std::string_view rest = properties; !rest.empty();) {
    const size_t end = rest.find(':');
    parts.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  check(!parts.empty() && parts.size() % 3 == 0, "Properties must be name:type:columns, once or more, got ",
        quote(properties));
  for (size_t i = 0; i < parts.size(); i += 3) {
    const auto name = parts[i];
    const auto width = parse_integer(parts[i + 2]);
    check(!name.empty() && names.insert(name).second, "Properties: ", quote(name), " is ",
          name.empty() ? "no name" : "given twice");
    check(parts[i + 1].size() == 1 && std::string_view("SIRL").find(parts[i + 1]) != std::string_view::npos,
          "Properties: the type of ", quote(name), " must be S, I, R or L, got ", quote(parts[i + 1], 20));
    check(width && *width >= 1 && *width <= kWidest, "Properties: the columns of ", quote(name),
          " must be a number from 1 on, got ", quote(parts[i + 2], 20));
    Column column{std::string(name), parts[i + 1][0], *width, Target::column};
    if (name == "species" || name == "symbols") {
      check(column.type == 'S' && *width == 1 && !species, "Properties: ", quote(name), " must be S:1, once");
      column.target = Target::species;
      species = true;
    } else if (name == "pos" || name == "positions") {
      check(column.type == 'R' && *width == 3 && !positions, "Properties: ", quote(name),
            " must be R:3, once");
      column.target = Target::positions;
      positions = true;
    }
    columns_.push_back(std::move(column));
  }
  for (auto& column : columns_) {
    if (column.type == 'I' && column.width == 1 && (column.name == "Z" || column.name == "numbers")) {
      column.target = Target::atomic_number;
      species = true;
    }
  }
  check(species && positions, "Properties must have ", species ? "pos:R:3" : "species:S:1 or Z:I:1", ", got ",
        quote(properties));
  properties_ = properties;
}

/// Empty columns of the right types, in the memory of the last frame's.
void ExtendedXyzReader::prepare_columns(AtomsFrame& frame) const {
  size_t count = 0;
  for (const auto& column : columns_) {
    if (column.target == Target::species || column.target == Target::positions) {
      continue;
    }
    if (count == frame.columns.size()) {
      frame.columns.emplace_back();
    }
    AtomColumn& to = frame.columns[count++];
    to.name = column.name;
    to.width = column.width;
    switch (column.type) {
      case 'R':
        prepare<double>(to.values);
        break;
      case 'I':
        prepare<int64_t>(to.values);
        break;
      case 'L':
        prepare<uint8_t>(to.values);
        break;
      default:
        prepare<std::string>(to.values);
    }
  }
  frame.columns.resize(count);
}

int ExtendedXyzReader::read_species(const AtomsFrame& frame, std::string_view word) {
  const int z = atomic_number(word);
  if (z >= 0) [[likely]] {
    return z;
  }
  if (const int64_t isotope = hydrogen_isotope(word); isotope > 0) {
    isotopes_.emplace_back(frame.numbers.size(), isotope);
    return 1;
  }
  const auto number = parse_integer(word);
  check(number.has_value(), number ? "" : unknown_element(word));
  check(*number >= 0 && *number <= most_elements, "an atomic number must be 0 .. ", most_elements, ", got ",
        *number);
  return static_cast<int>(*number);
}

void ExtendedXyzReader::refuse_columns(size_t seen, std::string_view more) const {
  int64_t sum = 0;
  for (const auto& column : columns_) {
    sum += column.width;
  }
  const bool plain = properties_ == plain_columns;
  check(more.empty(), "must have the ", sum, " columns of ", quote(properties_),
        plain ? " (others need Properties=)" : "", ", got more: ", quote(more, 40));
  check(false, "must have the ", sum, " columns of ", quote(properties_), ", got ", seen);
  std::abort();
}

void ExtendedXyzReader::refuse_word(const Column& column, size_t at, const char* must,
                                    std::string_view word) const {
  check(false, "column ", at, " (", printable(column.name, 40), ") must be ", must, ", got ",
        quote(word, 40));
  std::abort();
}

std::string_view ExtendedXyzReader::next_word() {
  const auto word = take_word(row_);
  if (word.empty()) [[unlikely]] {
    refuse_columns(words_, {});
  }
  ++words_;
  return word;
}

double ExtendedXyzReader::next_real(const Column& column) {
  const auto word = next_word();
  const auto x = parse_real(word);
  if (!x) [[unlikely]] {
    refuse_word(column, words_, "a number", word);
  }
  return *x;
}

void ExtendedXyzReader::read_column(const Column& column, FrameValues& values) {
  for (int64_t k = 0; k < column.width; ++k) {
    if (column.type == 'R') {
      std::get<std::vector<double>>(values).push_back(next_real(column));
      continue;
    }
    const auto word = next_word();
    if (column.type == 'S') {
      auto& texts = std::get<std::vector<std::string>>(values);
      if (word[0] != '"') {
        texts.emplace_back(word);
        continue;
      }
      row_ = {word.data(), static_cast<size_t>(row_.data() + row_.size() - word.data())};
      try {
        texts.push_back(take_quoted(row_));
      } catch (const DataError& error) {
        check(false, error.what());
      }
    } else if (column.type == 'I') {
      const auto x = parse_integer(word);
      if (!x) {
        refuse_word(column, words_, "an integer", word);
      }
      std::get<std::vector<int64_t>>(values).push_back(*x);
    } else {
      const auto yes = parse_logical(word);
      if (!yes) {
        refuse_word(column, words_, "T or F", word);
      }
      std::get<std::vector<uint8_t>>(values).push_back(*yes ? 1 : 0);
    }
  }
}

/// Where the frame has no such column of its own.
void ExtendedXyzReader::add_isotopes(AtomsFrame& frame) const {
  if (isotopes_.empty() || frame.column(isotopes_column) != nullptr) {
    return;
  }
  std::vector<int64_t> column(frame.numbers.size(), 0);
  for (const auto& [atom, isotope] : isotopes_) {
    column[atom] = isotope;
  }
  frame.set(AtomColumn{std::string(isotopes_column), 1, std::move(column)});
}

/// An atom's number from a column of its own: its element, or that of its symbol once more.
void ExtendedXyzReader::add_atomic_number(AtomsFrame& frame, int64_t z) const {
  check(z >= 0 && z <= most_elements, "an atomic number must be 0 .. ", most_elements, ", got ", z);
  if (frame.numbers.size() < frame.positions.size() / 3) {
    frame.numbers.push_back(static_cast<int>(z));
  } else {
    check(frame.numbers.back() == z, "the atomic number must be that of ",
          element_symbol(frame.numbers.back()), ", got ", z);
  }
}

void ExtendedXyzReader::read_row(AtomsFrame& frame) {
  row_ = lines_.line();
  words_ = 0;
  size_t at = 0;  // among the frame's columns
  std::optional<int64_t> number;
  for (const auto& column : columns_) {
    if (column.target == Target::species) {
      frame.numbers.push_back(read_species(frame, next_word()));
    } else if (column.target == Target::positions) {
      for (int d = 0; d < 3; ++d) {
        const double x = next_real(column);
        if (!std::isfinite(x)) {
          refuse_word(column, words_, "finite", text(x));
        }
        frame.positions.push_back(x);
      }
    } else {
      FrameValues& values = frame.columns[at++].values;
      read_column(column, values);
      if (column.target == Target::atomic_number) {
        number = std::get<std::vector<int64_t>>(values).back();
      }
    }
  }
  if (const auto more = trimmed(row_); !more.empty()) {
    refuse_columns(words_, more);
  }
  if (number) {
    add_atomic_number(frame, *number);
  }
}

namespace {

constexpr size_t kWritten = size_t{1} << 20;

char letter_of(const FrameValues& values) {
  constexpr std::string_view letters = "RILS";  // in the order of the variant
  return letters[values.index()];
}

void append_entry(std::string& to, double x) {
  append_number(to, x);
}
void append_entry(std::string& to, int64_t x) {
  append_number(to, x);
}
void append_entry(std::string& to, uint8_t yes) {
  to += yes != 0 ? 'T' : 'F';
}
void append_entry(std::string& to, const std::string& text) {
  append_text(to, text);
}

void check_writable(const AtomsFrame& frame) {
  for (const auto& column : frame.columns) {
    const auto& name = column.name;
    require<DataError>(!name.empty() && name.find_first_of(" \t\r\n\v\f\"\\=:{}[],") == std::string::npos &&
                           name != "species" && name != "symbols" && name != "pos" && name != "positions",
                       "extended xyz: a column cannot be named ", quote(name));
  }
  for (const auto& value : frame.values) {
    require<DataError>(value.name != "Properties" && value.name != "Lattice" && value.name != "pbc",
                       "extended xyz: a value cannot be named ", quote(value.name));
    require<DataError>(value.shape.size() <= 2, "extended xyz: ", quote(value.name),
                       " must have at most 2 dimensions, got shape ", shape_text(value.shape));
  }
  require<DataError>(frame.cell || frame.pbc == std::array<bool, 3>{}, "extended xyz: pbc needs a cell");
  require<DataError>(frame.bonds.empty(), "extended xyz: cannot hold bonds");
}

void append_comment(std::string& to, const AtomsFrame& frame) {
  if (frame.cell) {
    to += "Lattice=\"";
    for (size_t i = 0; i < 9; ++i) {
      to += i == 0 ? "" : " ";
      append_number(to, (*frame.cell)[i]);
    }
    to += "\" ";
  }
  to += "Properties=species:S:1:pos:R:3";
  for (const auto& column : frame.columns) {
    to += ':';
    to += column.name;
    to += ':';
    to += letter_of(column.values);
    to += ':';
    append_number(to, column.width);
  }
  for (FrameValue value : frame.values) {
    write_out_stress(value, StressOrder::voigt);
    append_pair(to, value);
  }
  to += " pbc=\"";
  for (size_t d = 0; d < 3; ++d) {
    to += d == 0 ? "" : " ";
    to += frame.pbc[d] ? 'T' : 'F';
  }
  to += "\"\n";
}

}  // namespace

void append_extended_xyz(std::string& to, const AtomsFrame& frame) {
  check_frame(frame, "extended xyz");
  check_writable(frame);
  append_number(to, frame.size());
  to += '\n';
  append_comment(to, frame);
  for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
    to += element_symbol(frame.numbers[atom]);
    for (size_t d = 0; d < 3; ++d) {
      to += ' ';
      append_number(to, frame.positions[3 * atom + d]);
    }
    for (const auto& column : frame.columns) {
      std::visit(
          [&](const auto& values) {
            const auto width = static_cast<size_t>(column.width);
            for (size_t k = 0; k < width; ++k) {
              to += ' ';
              append_entry(to, values[width * atom + k]);
            }
          },
          column.values);
    }
    to += '\n';
  }
}

ExtendedXyzWriter::ExtendedXyzWriter(const std::string& path, Existing existing)
    : file_(path, existing), path_(path) {}

void ExtendedXyzWriter::write(const AtomsFrame& frame) {
  append_extended_xyz(buffer_, frame);
  write(std::string_view());
}

void ExtendedXyzWriter::write(std::string_view frame) {
  buffer_ += frame;
  if (buffer_.size() >= kWritten) {
    flush();
  }
}

void ExtendedXyzWriter::flush() {
  if (path_.ends_with(".gz")) {  // members of a gzip file may follow one another
    file_.write(gzip(std::as_bytes(std::span(buffer_)), path_));
  } else {
    file_.write(buffer_);
  }
  buffer_.clear();
}

void ExtendedXyzWriter::commit() {
  flush();
  file_.commit();
}

}  // namespace weyl
