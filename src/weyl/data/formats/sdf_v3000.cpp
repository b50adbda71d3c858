#include "weyl/core/quote.h"
#include "weyl/data/formats/sdf.h"

namespace weyl {
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

}  // namespace weyl
