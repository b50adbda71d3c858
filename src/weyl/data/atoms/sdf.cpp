#include "weyl/data/atoms/sdf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/atoms/extended_xyz_comment.h"

namespace weyl {
namespace {

constexpr std::string_view kEnd = "$$$$";

/// Columns [begin, begin + size) of a line of fixed columns, without blanks at its ends.
std::string_view field(std::string_view line, size_t begin, size_t size) {
  return begin < line.size() ? trimmed(line.substr(begin, size)) : std::string_view();
}

/// NAME of "> 25 <NAME> (1)".
std::string_view field_name(std::string_view line) {
  const size_t begin = line.find('<'), end = line.rfind('>');
  return begin != std::string_view::npos && end != std::string_view::npos && end > begin
             ? line.substr(begin + 1, end - begin - 1)
             : std::string_view();
}

bool any(const std::vector<int64_t>& values) {
  return std::ranges::any_of(values, [](int64_t x) { return x != 0; });
}

}  // namespace

SdfReader::SdfReader(std::unique_ptr<ByteSource> source, std::string_view where)
    : lines_(std::move(source), where) {}

std::string SdfReader::where() const {
  return lines_.where(first_line_);
}

std::string_view SdfReader::unit_of(std::string_view name) const {
  return name == "pos" ? "Angstrom" : name == "formal_charges" ? "e" : "";
}

void SdfReader::next_line(const char* what) {
  check(lines_.next(), "the file ends before ", what);
}

double SdfReader::coordinate(std::string_view word) const {
  const auto x = parse_real(word);
  if (!x || !std::isfinite(*x)) {
    check(false, "a coordinate must be a finite number, got ", quote(word, 40));
  }
  return *x;
}

int64_t SdfReader::integer(std::string_view word, const char* what) const {
  const auto x = parse_integer(word);
  if (!x) {
    check(false, what, " must be an integer, got ", quote(word, 40));
  }
  return *x;
}

bool SdfReader::next(AtomsFrame& frame) {
  // The first line may be empty: a molecule is there when one of its lines says anything.
  std::array<std::string, 3> header;
  const int64_t before = lines_.number();
  if (!lines_.next_frame()) {
    require<DataError>(lines_.frame() > 0, lines_.where(), ": must hold at least one molecule, holds none");
    return false;
  }
  const int64_t blank = lines_.number() - before - 1;
  frame = {};
  // Blank lines among the three before the counts came first.
  const auto said = static_cast<size_t>(std::min<int64_t>(blank, 3));
  first_line_ = lines_.number() - static_cast<int64_t>(said);
  for (size_t i = said; i < 3; ++i) {
    header[i] = lines_.line();
    next_line("the counts of the molecule");
  }
  if (const auto name = trimmed(header[0]); !name.empty()) {
    frame.values.push_back({"name", {}, std::vector{std::string(name)}});
  }
  if (const auto code = field(header[1], 20, 2); code == "2D" || code == "3D") {
    frame.values.push_back({"dimensions", {}, std::vector<int64_t>{code[0] - '0'}});
  }
  Marks marks;
  const auto version = field(lines_.line(), 33, 6);
  check(version == "V2000" || version == "V3000" || version.empty(),
        "the counts line must end with V2000 or V3000, got ", quote(version, 20));
  if (version == "V3000") {
    read_v3000(frame, marks);
  } else {
    read_v2000(frame, marks);
  }
  check_bonds(frame);
  frame.columns.push_back({"formal_charges", 1, std::move(marks.charges)});
  if (any(marks.isotopes)) {
    frame.columns.push_back({std::string(isotopes_column), 1, std::move(marks.isotopes)});
  }
  if (any(marks.radicals)) {
    frame.columns.push_back({"radicals", 1, std::move(marks.radicals)});
  }
  read_fields(frame);
  return true;
}

void SdfReader::add_atom(AtomsFrame& frame, Marks& marks, std::string_view symbol) const {
  const int64_t isotope = hydrogen_isotope(symbol);
  const int z = isotope != 0 ? 1 : atomic_number(symbol);
  if (z <= 0) {
    check(false, unknown_element(symbol));
  }
  frame.numbers.push_back(z);
  marks.charges.push_back(0);
  marks.isotopes.push_back(isotope);
  marks.radicals.push_back(0);
}

void SdfReader::add_bond(AtomsFrame& frame, int64_t first, int64_t second, int64_t type) const {
  check(first >= 1 && second >= 1 && first <= frame.size() && second <= frame.size() && first != second,
        "a bond must be between two of the atoms 1 .. ", frame.size(), ", got ", first, " and ", second);
  check(type >= 1 && type <= 10, "the type of a bond must be 1 .. 10, got ", type);
  frame.bonds.push_back({first - 1, second - 1, type <= 4 ? static_cast<int>(type) : 0});
}

void SdfReader::check_bonds(const AtomsFrame& frame) const {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const Bond& bond : frame.bonds) {
    pairs.emplace_back(std::minmax(bond.first, bond.second));
  }
  std::ranges::sort(pairs);
  const auto twice = std::ranges::adjacent_find(pairs);
  if (twice != pairs.end()) {
    check(false, "two atoms must have one bond, ", twice->first + 1, " and ", twice->second + 1, " have two");
  }
}

void SdfReader::read_v2000(AtomsFrame& frame, Marks& marks) {
  const auto count = [&](size_t begin, const char* what) {
    const int64_t n = integer(field(lines_.line(), begin, 3), what);
    check(n >= 0, what, " must not be negative, got ", n);
    return n;
  };
  const int64_t atoms = count(0, "the number of atoms"), bonds = count(3, "the number of bonds");
  for (int64_t atom = 0; atom < atoms; ++atom) {
    check(lines_.next(), "the file ends after ", atom, " of ", atoms, " atoms");
    const auto line = lines_.line();
    check(!line.starts_with("M  END") && !line.starts_with(kEnd), "the molecule ends after ", atom, " of ",
          atoms, " atoms");
    for (const size_t begin : {0, 10, 20}) {
      frame.positions.push_back(coordinate(field(line, begin, 10)));
    }
    add_atom(frame, marks, field(line, 31, 3));
    const auto code = field(line, 36, 3);
    const int64_t charge = code.empty() ? 0 : integer(code, "the charge code");
    check(charge >= 0 && charge <= 7, "the charge code must be 0 .. 7, got ", charge);
    marks.charges.back() = charge == 0 || charge == 4 ? 0 : 4 - charge;
    marks.radicals.back() = charge == 4 ? 2 : 0;  // a doublet
  }
  for (int64_t bond = 0; bond < bonds; ++bond) {
    check(lines_.next(), "the file ends after ", bond, " of ", bonds, " bonds");
    const auto line = lines_.line();
    check(!line.starts_with("M  END") && !line.starts_with(kEnd), "the molecule ends after ", bond, " of ",
          bonds, " bonds");
    // One after the other, so that the first fault of a line is the one that is told, whatever the compiler.
    const int64_t first = integer(field(line, 0, 3), "an atom of a bond");
    const int64_t second = integer(field(line, 3, 3), "an atom of a bond");
    add_bond(frame, first, second, integer(field(line, 6, 3), "the type of a bond"));
  }
  read_properties(marks);
}

/// The lines between bonds and "M  END"; the first that says charges or radicals unsays the atoms' codes.
void SdfReader::read_properties(Marks& marks) {
  bool unsaid = false;
  while (true) {
    next_line("M  END");
    const auto line = lines_.line();
    check(!line.starts_with(kEnd), "the molecule must end with M  END");
    if (line.starts_with("M  END")) {
      return;
    }
    const bool charge = line.starts_with("M  CHG"), isotope = line.starts_with("M  ISO"),
               radical = line.starts_with("M  RAD");
    if (!charge && !isotope && !radical) {
      continue;
    }
    if (!isotope && !unsaid) {
      std::ranges::fill(marks.charges, 0);
      std::ranges::fill(marks.radicals, 0);
      unsaid = true;
    }
    auto& to = charge ? marks.charges : isotope ? marks.isotopes : marks.radicals;
    std::string_view rest = line.substr(6);
    const int64_t pairs = integer(take_word(rest), "the number of pairs");
    for (int64_t i = 0; i < pairs; ++i) {
      const int64_t atom = integer(take_word(rest), "an atom");
      check(atom >= 1 && atom <= static_cast<int64_t>(to.size()), "an atom must be 1 .. ", to.size(),
            ", got ", atom);
      to[atom - 1] = integer(take_word(rest), "its value");
    }
  }
}

void SdfReader::read_fields(AtomsFrame& frame) {
  const size_t said_before = frame.values.size();  // by the first lines
  std::map<std::string, size_t> places;            // of the fields, among the frame's values
  size_t left = longest_text_line;                 // of the characters that all of them may have
  const auto take = [&](std::string_view line) {
    check(line.size() < left, "the data fields of a molecule must have at most ", longest_text_line,
          " characters");
    left -= line.size() + 1;
  };
  while (lines_.next()) {
    const std::string_view line = trimmed(lines_.line());
    if (line.starts_with(kEnd)) {
      break;
    }
    if (line.empty()) {
      continue;
    }
    check(line.starts_with('>'), "must be a data field > <NAME> or ", kEnd, ", got ", quote(line, 40));
    take(line);
    const std::string name(field_name(line));
    check(!name.empty(), "a data field must have a name, > <NAME>, got ", quote(line, 40));
    std::string said;
    bool ended = false;
    for (bool first = true; !ended && lines_.next(); first = false) {
      const auto next = lines_.line();
      ended = trimmed(next).empty();
      if (next.starts_with(kEnd)) {
        lines_.hold();
        break;
      }
      if (!ended) {
        take(next);
        said += first ? "" : "\n";
        said += next;
      }
    }
    FrameValue value = value_of_text(name, said);
    const auto [place, added] = places.emplace(name, frame.values.size());
    if (!added) {
      check(frame.values[place->second] == value, "the field ", quote(name, 40),
            " is given twice, with another value");
      continue;
    }
    const auto begin = frame.values.begin(), end = begin + static_cast<ptrdiff_t>(said_before);
    if (const auto before = std::ranges::find(begin, end, name, &FrameValue::name); before != end) {
      place->second = static_cast<size_t>(before - begin);  // a field may have the name of what they say
      *before = std::move(value);
    } else {
      frame.values.push_back(std::move(value));
    }
  }
}

namespace {

constexpr std::string_view kPrefix = "M  V30 ";

}  // namespace

/// The next line without its prefix, and those that continue it after a `-`.
std::string SdfReader::v30_line() {
  std::string line;
  bool more = true;
  while (more) {
    next_line("M  V30 END CTAB");
    check(lines_.line().starts_with(kPrefix), "a line must begin with M  V30, got ",
          quote(lines_.line(), 40));
    line += lines_.line().substr(kPrefix.size());
    more = line.ends_with('-');
    line.resize(line.size() - (more ? 1 : 0));
    check(line.size() <= longest_text_line, "a line must have at most ", longest_text_line, " characters");
  }
  return std::string(trimmed(line));
}

void SdfReader::read_v3000(AtomsFrame& frame, Marks& marks) {
  const std::string begin = v30_line();
  check(begin == "BEGIN CTAB", "must be BEGIN CTAB, got ", quote(begin, 40));
  const std::string counts = v30_line();
  std::string_view rest = counts;
  check(take_word(rest) == "COUNTS", "must be COUNTS, got ", quote(counts, 40));
  const int64_t atoms = integer(take_word(rest), "the number of atoms");
  const int64_t bonds = integer(take_word(rest), "the number of bonds");
  std::map<int64_t, int64_t> places;
  for (std::string line = v30_line(); line != "END CTAB"; line = v30_line()) {
    if (line == "BEGIN ATOM") {
      read_v30_atoms(frame, marks, places);
    } else if (line == "BEGIN BOND") {
      read_v30_bonds(frame, places);
    } else if (line.starts_with("BEGIN ")) {
      const std::string end = "END " + std::string(line.substr(6));
      while (v30_line() != end) {
      }
    }
  }
  check(frame.size() == atoms, "COUNTS says ", atoms, " atoms, there are ", frame.size());
  check(static_cast<int64_t>(frame.bonds.size()) == bonds, "COUNTS says ", bonds, " bonds, there are ",
        frame.bonds.size());
  do {
    next_line("M  END");
    check(!lines_.line().starts_with("$$$$"), "the molecule must end with M  END");
  } while (!lines_.line().starts_with("M  END"));
}

/// index type x y z aamap KEY=VALUE ...; `places` are those of the indices, from 1.
void SdfReader::read_v30_atoms(AtomsFrame& frame, Marks& marks, std::map<int64_t, int64_t>& places) {
  for (std::string line = v30_line(); line != "END ATOM"; line = v30_line()) {
    std::string_view rest = line;
    const int64_t index = integer(take_word(rest), "the index of an atom");
    const auto symbol = take_word(rest);
    check(places.emplace(index, frame.size() + 1).second, "the atom ", index, " is given twice");
    for (int d = 0; d < 3; ++d) {
      frame.positions.push_back(coordinate(take_word(rest)));
    }
    add_atom(frame, marks, symbol);
    take_word(rest);  // of a reaction
    for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
      if (word.starts_with("CHG=")) {
        marks.charges.back() = integer(word.substr(4), "CHG");
      } else if (word.starts_with("MASS=")) {
        marks.isotopes.back() = integer(word.substr(5), "MASS");
      } else if (word.starts_with("RAD=")) {
        marks.radicals.back() = integer(word.substr(4), "RAD");
      }
    }
  }
}

/// index type atom atom
void SdfReader::read_v30_bonds(AtomsFrame& frame, const std::map<int64_t, int64_t>& places) {
  for (std::string line = v30_line(); line != "END BOND"; line = v30_line()) {
    std::string_view rest = line;
    integer(take_word(rest), "the index of a bond");
    const int64_t type = integer(take_word(rest), "the type of a bond");
    int64_t ends[2] = {0, 0};
    for (int64_t& end : ends) {
      const int64_t index = integer(take_word(rest), "an atom of a bond");
      const auto found = places.find(index);
      check(found != places.end(), "there is no atom ", index);
      end = found->second;
    }
    add_bond(frame, ends[0], ends[1], type);
  }
}

namespace {

/// The one number or text of a value; empty where it has several.
std::string field_text(const FrameValue& value) {
  return std::visit(
      [](const auto& values) {
        std::string said;
        using T = typename std::decay_t<decltype(values)>::value_type;
        if (values.size() != 1) {
          return said;
        }
        if constexpr (std::is_same_v<T, std::string>) {
          said = values[0];
        } else if constexpr (std::is_same_v<T, uint8_t>) {
          said = values[0] != 0 ? "T" : "F";
        } else {
          append_number(said, values[0]);
        }
        return said;
      },
      value.values);
}

}  // namespace

void append_sdf(std::string& to, const AtomsFrame& frame) {
  constexpr int64_t most = 999;
  const auto bonds = static_cast<int64_t>(frame.bonds.size());
  require<DataError>(frame.size() <= most && bonds <= most, "SDF: a molecule must have at most ", most,
                     " atoms and bonds, has ", frame.size(), " and ", bonds);
  const FrameValue *title = frame.value("name"), *dimensions = frame.value("dimensions");
  const std::string planar = dimensions != nullptr ? field_text(*dimensions) : "3";
  std::array<char, 96> line{};
  const auto append = [&](const char* format, auto... values) {
    to += std::string_view(line.data(), std::snprintf(line.data(), line.size(), format, values...));
  };
  to += text(title != nullptr ? field_text(*title) : "", "\n  weyl              ", planar, "D\n\n");
  append("%3d%3d  0  0  0  0  0  0  0  0999 V2000\n", static_cast<int>(frame.size()),
         static_cast<int>(bonds));
  for (size_t i = 0; i < frame.numbers.size(); ++i) {
    for (size_t d = 0; d < 3; ++d) {
      const double x = frame.positions[3 * i + d];
      require<DataError>(x > -9999 && x < 99999, "SDF: a place must be between -9999 and 99999, is ", x);
      append("%10.4f", x);
    }
    append(" %-3s 0  0  0  0  0  0  0  0  0  0  0  0\n",
           std::string(element_symbol(frame.numbers[i])).c_str());
  }
  for (const Bond& bond : frame.bonds) {
    append("%3d%3d%3d  0\n", static_cast<int>(bond.first + 1), static_cast<int>(bond.second + 1),
           bond.order == 0 ? 8 : bond.order);
  }
  for (const auto& [name, mark] :
       {std::pair{std::string_view("formal_charges"), "CHG"}, {isotopes_column, "ISO"}}) {
    const AtomColumn* column = frame.column(name);
    for (size_t i = 0; column != nullptr && i < frame.numbers.size(); ++i) {
      if (const int64_t said = std::get<std::vector<int64_t>>(column->values)[i]; said != 0) {
        append("M  %s  1%4d%4d\n", mark, static_cast<int>(i + 1), static_cast<int>(said));
      }
    }
  }
  to += "M  END\n";
  for (const FrameValue& value : frame.values) {
    const std::string said = &value == title || &value == dimensions ? "" : field_text(value);
    to += said.empty() ? "" : text(">  <", value.name, ">\n", said, "\n\n");
  }
  to += text(kEnd, "\n");
}

}  // namespace weyl
