#include "weyl/data/atoms/qm9.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr int64_t kMostAtoms = 1 << 20;

/// Mathematica's exponents are what other programs write with an e.
std::optional<double> parse_mathematica(std::string_view word) {
  const size_t star = word.find("*^");
  if (star == std::string_view::npos) {
    return parse_real(word);
  }
  return parse_real(std::string(word.substr(0, star)).append("e").append(word.substr(star + 2)));
}

}  // namespace

bool is_qm9(std::string_view begin_of_file) {
  const size_t line = begin_of_file.find('\n');
  return line != std::string_view::npos && (begin_of_file.substr(line + 1).starts_with("gdb ") ||
                                            begin_of_file.substr(line + 1).starts_with("gdb\t"));
}

Qm9Reader::Qm9Reader(std::unique_ptr<ByteSource> source, std::string_view where)
    : lines_(std::move(source), where) {}

std::string Qm9Reader::where() const {
  return lines_.where(first_line_);
}

std::string_view Qm9Reader::unit_of(std::string_view name) const {
  const auto* found = std::ranges::find(qm9_properties, name, &Qm9Property::name);
  if (found != std::end(qm9_properties)) {
    return found->unit;
  }
  return name == "pos" ? "Angstrom" : name == "mulliken" ? "e" : name == "frequencies" ? "1/cm" : "";
}

template <class... Parts>
void Qm9Reader::check(bool holds, const Parts&... parts) const {
  lines_.check(holds, parts...);
}

double Qm9Reader::number(std::string_view word, const char* what) const {
  const auto x = parse_mathematica(word);
  if (!x || !std::isfinite(*x)) {
    check(false, what, " must be a finite number, got ", quote(word, 40));
  }
  return *x;
}

void Qm9Reader::next_line(const char* what) {
  check(lines_.next(), "the file ends before ", what);
}

bool Qm9Reader::next(AtomsFrame& frame) {
  if (!lines_.next_frame()) {
    require<DataError>(lines_.frame() > 0, lines_.where(), ": must hold at least one molecule, holds none");
    return false;
  }
  first_line_ = lines_.number();
  frame = {};
  const auto count = parse_integer(trimmed(lines_.line()));
  check(count && *count >= 1 && *count <= kMostAtoms, "must be a number of atoms, got ",
        quote(lines_.line(), 40));
  next_line("its properties");
  read_properties(frame);
  std::vector<double> mulliken;
  for (int64_t atom = 0; atom < *count; ++atom) {
    check(lines_.next(), "the file ends after ", atom, " of ", *count, " atoms");
    read_atom(frame, mulliken);
  }
  frame.columns.push_back({"mulliken", 1, std::move(mulliken)});
  next_line("its frequencies");
  std::vector<double> frequencies;
  std::string_view rest = lines_.line();
  for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
    frequencies.push_back(number(word, "a frequency"));
  }
  frame.values.push_back({"frequencies", {static_cast<int64_t>(frequencies.size())}, std::move(frequencies)});
  next_line("its SMILES");
  read_names(frame, "smiles");
  next_line("its InChI");
  read_names(frame, "inchi");
  return true;
}

void Qm9Reader::read_properties(AtomsFrame& frame) {
  std::string_view rest = lines_.line();
  constexpr size_t properties = std::size(qm9_properties);
  std::vector<std::string_view> words;
  for (auto word = take_word(rest); !word.empty() && words.size() < properties + 3; word = take_word(rest)) {
    words.push_back(word);
  }
  check(words.size() == properties + 2 && words[0] == "gdb", "must be gdb, an index and ", properties,
        " properties, got ", words.size(), " words, ", quote(lines_.line(), 40));
  const auto index = parse_integer(words[1]);
  check(index.has_value(), "the index must be an integer, got ", quote(words[1], 40));
  frame.values.push_back({"index", {}, std::vector{*index}});
  for (size_t i = 0; i < properties; ++i) {
    const std::string name(qm9_properties[i].name);
    frame.values.push_back({name, {}, std::vector{number(words[i + 2], name.c_str())}});
  }
}

void Qm9Reader::read_atom(AtomsFrame& frame, std::vector<double>& mulliken) {
  std::string_view rest = lines_.line();
  const auto symbol = take_word(rest);
  const int z = atomic_number(symbol);
  if (z < 0) {
    check(false, unknown_element(symbol));
  }
  frame.numbers.push_back(z);
  for (int d = 0; d < 3; ++d) {
    frame.positions.push_back(number(take_word(rest), "a coordinate"));
  }
  mulliken.push_back(number(take_word(rest), "the Mulliken charge"));
  if (!trimmed(rest).empty()) {
    check(false, "must have the 5 columns symbol, x, y, z, charge, got more: ", quote(trimmed(rest), 40));
  }
}

/// The molecule as it was drawn, and its relaxed geometry.
void Qm9Reader::read_names(AtomsFrame& frame, const std::string& name) {
  std::string_view rest = lines_.line();
  const auto drawn = take_word(rest), relaxed = take_word(rest);
  check(!drawn.empty() && trimmed(rest).empty(), "must be one or two names, got ", quote(lines_.line(), 40));
  frame.values.push_back({name, {}, std::vector{std::string(drawn)}});
  if (!relaxed.empty()) {
    frame.values.push_back({name + "_relaxed", {}, std::vector{std::string(relaxed)}});
  }
}

namespace {

constexpr std::string_view kTableBegin = "mol_id,A,B,C,mu,alpha,", kMolecule = "gdb_";

/// The names of energies and heat capacities in the table, and ours.
constexpr std::array<std::array<std::string_view, 2>, 9> kNames{{{"u0", "U0"},
                                                                 {"u298", "U"},
                                                                 {"h298", "H"},
                                                                 {"g298", "G"},
                                                                 {"cv", "Cv"},
                                                                 {"u0_atom", "U0_atom"},
                                                                 {"u298_atom", "U_atom"},
                                                                 {"h298_atom", "H_atom"},
                                                                 {"g298_atom", "G_atom"}}};

std::string_view our_name(std::string_view name) {
  const auto found = std::ranges::find_if(kNames, [&](const auto& pair) { return pair[0] == name; });
  return found == kNames.end() ? name : (*found)[1];
}

}  // namespace

bool is_qm9_table(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return false;
  }
  auto table = open_bytes(path);
  const auto begin = peek(table, kTableBegin.size());
  return std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()) == kTableBegin;
}

Qm9TableReader::Qm9TableReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                               std::string_view where)
    : TabledFrames(std::move(molecules), std::move(table), where, "the SDF file, which ends") {
  table_.check(table_.next() && table_.line().starts_with(kTableBegin), "must begin with ", kTableBegin,
               "...");
  std::set<std::string_view> seen;
  for (const std::string_view cell : comma_cells(table_.line())) {
    table_.check(!cell.empty() && seen.insert(our_name(cell)).second, "must name each column once, ",
                 quote(cell, 40), " is none or given twice");
    names_.emplace_back(our_name(cell));
  }
}

bool Qm9TableReader::next(AtomsFrame& frame) {
  std::vector<std::string_view> cells;
  if (!next_row(frame, cells)) {
    return false;
  }
  const auto index = parse_integer(cells[0].substr(std::min(kMolecule.size(), cells[0].size())));
  table_.check(cells[0].starts_with(kMolecule) && index, "must begin with a molecule as gdb_1, got ",
               quote(cells[0], 40));
  const FrameValue* name = frame.value("name");
  const auto* said = name == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&name->values);
  if (said != nullptr && said->front() != cells[0]) {
    table_.check(false, "must be of the molecule ", quote(said->front(), 40), " of the SDF file, is of ",
                 quote(cells[0], 40));
  }
  frame.set(FrameValue{"index", {}, std::vector{*index}});
  for (size_t i = 1; i < names_.size(); ++i) {
    frame.set(names_[i], number(cells, i));
  }
  return true;
}

std::string_view Qm9TableReader::unit_of(std::string_view name) const {
  const auto* found = std::ranges::find(qm9_properties, name, &Qm9Property::name);
  if (found != std::end(qm9_properties)) {
    return found->unit;
  }
  const bool atomisation = name == "U0_atom" || name == "U_atom" || name == "H_atom" || name == "G_atom";
  return atomisation ? "kcal/mol" : TabledFrames::unit_of(name);
}

}  // namespace weyl
