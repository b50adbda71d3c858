#include "weyl/data/atoms/pcqm4mv2.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/atoms/molecular_graph.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {
namespace {

/// What a column has of the atoms that are kept.
template <class T>
std::vector<T> rows_kept(const std::vector<T>& values, const std::vector<bool>& kept, size_t width) {
  std::vector<T> rows;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) {
      rows.insert(rows.end(), values.begin() + static_cast<ptrdiff_t>(i * width),
                  values.begin() + static_cast<ptrdiff_t>((i + 1) * width));
    }
  }
  return rows;
}

/// Whether an integer column, if there is one, says something of an atom.
bool says(const AtomColumn* column, size_t atom) {
  const auto* values = column == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(&column->values);
  return values != nullptr && (*values)[atom] != 0;
}

/// The places of another copy of a molecule in the order of its atoms; nothing where the atoms do not match.
std::optional<std::vector<double>> places_in_order(const AtomsFrame& other,
                                                   const std::optional<AtomMatch>& match) {
  if (!match) {
    return std::nullopt;
  }
  std::vector<double> places;
  for (const size_t atom : *match) {
    const double* x = other.positions.data() + 3 * atom;
    places.insert(places.end(), x, x + 3);
  }
  return places;
}

}  // namespace

void remove_hydrogens(AtomsFrame& frame) {
  const auto n = static_cast<size_t>(frame.size());
  std::vector<int> bonds(n, 0), heavy(n, 0);
  for (const Bond& bond : frame.bonds) {
    const auto a = static_cast<size_t>(bond.first), b = static_cast<size_t>(bond.second);
    ++bonds[a];
    ++bonds[b];
    heavy[a] += frame.numbers[b] > 1 ? 1 : 0;
    heavy[b] += frame.numbers[a] > 1 ? 1 : 0;
  }
  const AtomColumn *isotopes = frame.column(isotopes_column), *charges = frame.column("formal_charges");
  std::vector<bool> kept(n);
  std::vector<int64_t> place(n, 0);
  int64_t left = 0;
  for (size_t i = 0; i < n; ++i) {
    kept[i] =
        frame.numbers[i] != 1 || bonds[i] != 1 || heavy[i] != 1 || says(isotopes, i) || says(charges, i);
    place[i] = left;
    left += kept[i] ? 1 : 0;
  }
  frame.numbers = rows_kept(frame.numbers, kept, 1);
  frame.positions = rows_kept(frame.positions, kept, 3);
  for (AtomColumn& column : frame.columns) {
    column.values = std::visit(
        [&](const auto& values) -> FrameValues {
          return rows_kept(values, kept, static_cast<size_t>(column.width));
        },
        column.values);
  }
  std::erase_if(frame.bonds, [&](const Bond& bond) {
    return !kept[static_cast<size_t>(bond.first)] || !kept[static_cast<size_t>(bond.second)];
  });
  for (Bond& bond : frame.bonds) {
    bond.first = place[static_cast<size_t>(bond.first)];
    bond.second = place[static_cast<size_t>(bond.second)];
  }
}

std::vector<double> read_pcqm4mv2_gaps(std::unique_ptr<ByteSource> source, const std::string& where) {
  TextLines table(std::move(source), where);
  const bool begun = table.next();
  table.check(begun && table.line() == "idx,smiles,homolumogap",
              "must begin with idx,smiles,homolumogap, got ", begun ? quote(table.line(), 60) : "nothing");
  std::vector<double> gaps;
  while (table.next_filled()) {
    const auto cells = comma_cells(table.line());
    table.check(cells.size() == 3, "must have three columns, has ", cells.size());
    const auto idx = parse_integer(cells[0]);
    table.check(idx == static_cast<int64_t>(gaps.size()), "must be of idx ", gaps.size(), ", is of ",
                quote(cells[0], 40));
    const auto gap = cells[2].empty() ? std::optional(static_cast<double>(NAN)) : parse_real(cells[2]);
    if (!gap || std::isinf(*gap)) {
      table.check(false, "homolumogap must be a finite number or nothing, got ", quote(cells[2], 40));
    }
    gaps.push_back(*gap);
  }
  return gaps;
}

Pcqm4mv2Reader::Pcqm4mv2Reader(Sources sources) : s_(std::move(sources)) {}

void Pcqm4mv2Reader::refuse(const FrameReader& reader, const std::string& what) const {
  throw DataError(text(reader.where(), ": ", what));
}

/// Which bonds of a conformer are said to be aromatic, before its hydrogens are removed.
std::vector<bool> Pcqm4mv2Reader::aromatic_bonds(const AtomsFrame& frame) const {
  std::vector<bool> aromatic(frame.bonds.size(), false);
  const FrameValue* value = frame.value(aromatic_bonds_value);
  const auto* numbers = value == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(&value->values);
  const bool right =
      value == nullptr || (numbers != nullptr && std::ranges::all_of(*numbers, [&](int64_t bond) {
                             return bond >= 1 && bond <= std::ssize(aromatic);
                           }));
  if (!right) {
    refuse(*s_.conformers,
           text(aromatic_bonds_value, " must be numbers of its bonds 1 .. ", aromatic.size()));
  }
  for (const int64_t bond : numbers != nullptr ? *numbers : std::vector<int64_t>()) {
    aromatic[static_cast<size_t>(bond - 1)] = true;
  }
  return aromatic;
}

/// Sees to it that the first conformer of the next molecule is there; false at the end.
bool Pcqm4mv2Reader::fill() {
  if (pending_) {
    return true;
  }
  pending_place_ = s_.conformers->place();
  AtomsFrame frame;
  if (!s_.conformers->next(frame)) {
    return false;
  }
  const FrameValue* value = frame.value("idx");
  const auto numbers = value != nullptr ? std::get_if<std::vector<int64_t>>(&value->values) : nullptr;
  if (numbers == nullptr || numbers->size() != 1 || numbers->front() < 0 ||
      numbers->front() >= static_cast<int64_t>(s_.gaps->size())) {
    refuse(*s_.conformers, text("must have the field idx, the row 0 .. ",
                                static_cast<int64_t>(s_.gaps->size()) - 1, " of its molecule in data.csv"));
  }
  idx_ = numbers->front();
  // The mark is on the bonds while those of hydrogens are taken out.
  constexpr int mark = 100;
  const std::vector<bool> aromatic = aromatic_bonds(frame);
  for (size_t i = 0; i < aromatic.size(); ++i) {
    frame.bonds[i].order += aromatic[i] ? mark : 0;
  }
  std::erase_if(frame.values, [](const FrameValue& v) { return v.name == aromatic_bonds_value; });
  remove_hydrogens(frame);
  pending_aromatic_.clear();
  for (Bond& bond : frame.bonds) {
    pending_aromatic_.push_back(bond.order >= mark);
    bond.order %= mark;
  }
  pending_ = std::move(frame);
  return true;
}

/// Which of the training molecules a molecule is.
std::optional<int64_t> Pcqm4mv2Reader::rank(int64_t idx) const {
  const auto found = std::ranges::lower_bound(*s_.train, idx);
  return found != s_.train->end() && *found == idx ? std::optional<int64_t>(found - s_.train->begin())
                                                   : std::nullopt;
}

/// Goes on with the geometries to that of the molecule that comes next, where it has one.
void Pcqm4mv2Reader::align() {
  const auto wanted = rank(idx_);
  if (!s_.relaxed || !wanted) {
    return;
  }
  AtomsFrame passed;
  for (int64_t at = relaxed_at_.value_or(*wanted); at < *wanted; ++at) {
    next_relaxed(passed);
  }
  relaxed_at_ = wanted;
}

void Pcqm4mv2Reader::next_relaxed(AtomsFrame& relaxed) {
  if (!s_.relaxed->next(relaxed)) {
    refuse(*s_.relaxed, text("must be followed by a geometry for each of the ", s_.train->size(),
                             " training molecules, is the last"));
  }
}

std::optional<FramePlace> Pcqm4mv2Reader::place() {
  if (!fill()) {
    return pending_place_;
  }
  align();
  if (!pending_place_ || !s_.relaxed) {
    return pending_place_;
  }
  const auto beside = s_.relaxed->place();
  return beside ? std::optional(FramePlace{pending_place_->at, beside->at}) : std::nullopt;
}

void Pcqm4mv2Reader::go_to(const FramePlace& place) {
  s_.conformers->go_to(place);
  pending_.reset();
  last_idx_.reset();
  if (s_.relaxed) {
    s_.relaxed->go_to({place.beside});
    relaxed_at_.reset();
  }
}

/// The places of the geometry of DFT in the order of the atoms of the molecule; empty: it has none.
std::vector<double> Pcqm4mv2Reader::relaxed_places(const AtomsFrame& frame, AtomMatcher& atoms) {
  const auto wanted = rank(idx_);
  if (!s_.relaxed || !wanted) {
    return {};
  }
  AtomsFrame relaxed;
  next_relaxed(relaxed);
  relaxed_at_ = *wanted + 1;
  remove_hydrogens(relaxed);
  auto places = places_in_order(relaxed, atoms.nearest(relaxed, frame.positions));
  if (!places) {
    refuse(*s_.relaxed,
           text("must have the atoms and bonds of molecule ", idx_, ", whose conformers begin at ", where_));
  }
  return *std::move(places);
}

bool Pcqm4mv2Reader::next(AtomsFrame& frame) {
  if (!fill()) {
    if (s_.relaxed && relaxed_at_ == std::ssize(*s_.train) && s_.relaxed->next(frame)) {
      refuse(*s_.relaxed,
             text("must have no more geometries than the ", s_.train->size(), " training molecules"));
    }
    return false;
  }
  if (last_idx_ && idx_ != *last_idx_ + 1) {
    refuse(*s_.conformers,
           text("molecules must follow one another, idx must be ", *last_idx_ + 1, ", is ", idx_));
  }
  align();
  const int64_t idx = idx_;
  where_ = s_.conformers->where();
  frame = std::move(*pending_);
  pending_.reset();
  const std::vector<bool> aromatic = std::move(pending_aromatic_);
  AtomMatcher atoms(frame);
  std::vector<double> relaxed = relaxed_places(frame, atoms);
  std::vector<std::vector<double>> places{frame.positions};
  while (fill() && idx_ == idx) {
    // Where there is no geometry to lie near to, any order of atoms that are alike is right.
    auto conformer = places_in_order(
        *pending_, relaxed.empty() ? matching_atoms(frame, *pending_) : atoms.nearest(*pending_, relaxed));
    if (!conformer) {
      refuse(*s_.conformers, text("must have the atoms and bonds of molecule ", idx,
                                  ", of which it is a conformer, as the one at ", where_));
    }
    places.push_back(std::move(*conformer));
    pending_.reset();
  }
  last_idx_ = idx;
  std::vector<double> all;
  for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
    for (int64_t c = 0; c < s_.count; ++c) {
      const double* from = places[static_cast<size_t>(c) % places.size()].data() + 3 * atom;
      all.insert(all.end(), from, from + 3);
    }
  }
  for (size_t i = 0; i < aromatic.size(); ++i) {  // matches are of Kekule structures, which all files have
    frame.bonds[i].order = aromatic[i] ? 4 : frame.bonds[i].order;
  }
  if (!relaxed.empty()) {
    frame.columns.push_back({relaxed_column, 3, std::move(relaxed)});
  }
  frame.columns.push_back({conformers_column, 3 * s_.count, std::move(all)});
  if (const double gap = (*s_.gaps)[static_cast<size_t>(idx)]; !std::isnan(gap)) {
    frame.set("gap", gap);
  }
  return true;
}

std::string_view Pcqm4mv2Reader::unit_of(std::string_view name) const {
  return name == "gap" ? "eV" : s_.conformers->unit_of(name);
}

namespace {

/// The path of the first of two files that a folder has; empty: it has neither.
std::string one_of(const std::string& folder, const std::array<const char*, 2>& names) {
  for (const char* name : names) {
    if (const auto path = std::filesystem::path(folder) / name; std::filesystem::exists(path)) {
      return path.string();
    }
  }
  return "";
}

constexpr std::array kTables{"data.csv.gz", "data.csv"}, kLists{"split_dict.pt", "split_dict.json"};

}  // namespace

bool is_pcqm4mv2(const std::string& folder) {
  return !one_of(folder, kTables).empty() && !one_of(folder, kLists).empty();
}

Pcqm4mv2Files::Pcqm4mv2Files(std::string folder, int64_t conformers) : count_(conformers) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("conformers") && name.ends_with(".sdf")) {
      conformers_.push_back(entry.path().string());
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  require<DataError>(!conformers_.empty(), folder,
                     ": must hold conformers.sdf, which `weyl data make conformers file=", folder,
                     "/data.csv.gz --out ", folder, "` writes");
  std::ranges::sort(conformers_);
  const auto needed = [&](const std::array<const char*, 2>& names) {
    const std::string path = one_of(folder, names);
    require<DataError>(!path.empty(), folder, ": must hold ", names[0], " or ", names[1], ", holds neither");
    return path;
  };
  const std::string table = needed(kTables);
  gaps_ = std::make_shared<std::vector<double>>(read_pcqm4mv2_gaps(open_bytes(table), table));
  splits_path_ = needed(kLists);
  splits_ = read_split_lists(splits_path_, {"train", "valid", "test-dev", "test-challenge"});
  train_ = std::make_shared<std::vector<int64_t>>(
      split_list(splits_, "train", 0, static_cast<int64_t>(gaps_->size()), splits_path_));
  if (const fs::path path = fs::path(folder) / "pcqm4m-v2-train.sdf"; fs::exists(path)) {
    relaxed_ = path.string();
    const auto train = splits_.find("train");
    require<DataError>(train != splits_.end(), splits_path_,
                       ": must have the list train, whose geometries pcqm4m-v2-train.sdf holds");
    require<DataError>(std::ranges::is_sorted(train->second), splits_path_,
                       ": train must ascend, as the geometries of pcqm4m-v2-train.sdf do");
  }
}

std::unique_ptr<FrameReader> Pcqm4mv2Files::open() const {
  const auto open_all = [](const std::vector<std::string>& paths) {
    auto reader = open_frames_of_all(paths);
    require<DataError>(reader->place().has_value(), paths.front(),
                       ": must be unpacked SDF, whose molecules can be read in any order");
    return reader;
  };
  return std::make_unique<Pcqm4mv2Reader>(Pcqm4mv2Reader::Sources{
      open_all(conformers_), relaxed_.empty() ? nullptr : open_all({relaxed_}), gaps_, train_, count_});
}

}  // namespace weyl
