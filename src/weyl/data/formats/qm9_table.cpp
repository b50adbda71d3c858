#include "weyl/data/formats/qm9_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/formats/qm9.h"

namespace weyl {
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

std::vector<std::string_view> table_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return cells;
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
    : molecules_(std::move(molecules)), table_(std::move(table), where) {
  table_.check(table_.next() && table_.line().starts_with(kTableBegin), "must begin with ", kTableBegin,
               "...");
  std::set<std::string_view> seen;
  for (const std::string_view cell : table_cells(table_.line())) {
    table_.check(!cell.empty() && seen.insert(our_name(cell)).second, "must name each column once, ",
                 quote(cell, 40), " is none or given twice");
    names_.emplace_back(our_name(cell));
  }
  names_.erase(names_.begin());
}

bool Qm9TableReader::next(AtomsFrame& frame) {
  if (!molecules_->next(frame)) {
    table_.check(!table_.next_filled(), "a row must have a molecule of the SDF file, which ends before");
    return false;
  }
  require<DataError>(table_.next_filled(), table_.where(),
                     ": must have a row for each molecule, ends before ", molecules_->where());
  const auto cells = table_cells(table_.line());
  table_.check(cells.size() == names_.size() + 1, "must have the ", names_.size() + 1,
               " columns of the first line, has ", cells.size());
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
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto x = parse_real(cells[i + 1]);
    if (!x || !std::isfinite(*x)) {
      table_.check(false, names_[i], " must be a finite number, got ", quote(cells[i + 1], 40));
    }
    frame.set(names_[i], *x);
  }
  return true;
}

std::string_view Qm9TableReader::unit_of(std::string_view name) const {
  const auto* found = std::ranges::find(qm9_properties, name, &Qm9Property::name);
  if (found != std::end(qm9_properties)) {
    return found->unit;
  }
  const bool atomisation = name == "U0_atom" || name == "U_atom" || name == "H_atom" || name == "G_atom";
  return atomisation ? "kcal/mol" : molecules_->unit_of(name);
}

}  // namespace weyl
