#include "weyl/data/atoms/molecule3d.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {

Molecule3dReader::Molecule3dReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                                   std::string_view where, Files files)
    : TabledFrames(std::move(molecules), std::move(table), where, "the SDF files, which end"),
      files_(std::move(files)) {
  require<DataError>(table_.next(), where, ": must begin with a line of columns, is empty");
  for (const std::string_view cell : comma_cells(table_.line())) {
    table_.check(std::ranges::find(names_, cell) == names_.end(), "must name each column once, ",
                 quote(cell, 40), " is given twice");
    names_.emplace_back(cell);
  }
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
  };
  table_.check(column("homolumogap") < names_.size(), "must have a column homolumogap, has ",
               quote(table_.line(), 80));
  index_ = column("index");
  for (const char* axis : {"dipole x", "dipole y", "dipole z"}) {
    dipole_.push_back(column(axis));
  }
  if (std::ranges::find(dipole_, names_.size()) != dipole_.end()) {
    dipole_.clear();
  }
}

void Molecule3dReader::check_index(const std::vector<std::string_view>& cells) {
  const auto index = index_ < cells.size() ? parse_integer(cells[index_]) : std::nullopt;
  table_.check(!index || !last_index_ || *index > *last_index_ || *index == 0,
               "index must ascend, as the rows of the molecules do, is ", index.value_or(0), " after ",
               last_index_.value_or(0));
  last_index_ = index;
}

/// That the molecule read last, or the end where there is none, is where the names of the files say.
void Molecule3dReader::check_file(bool there) const {
  for (const auto& [path, end] : files_) {
    if (*row_ < end) {
      require<DataError>(there && where().starts_with(path + ": "), path, ": must hold the molecules to ",
                         end - 1, " as its name says, but molecule ", *row_,
                         there ? " is at " : " is not there", there ? where() : "");
      return;
    }
  }
  require<DataError>(!there || files_.empty(), where(), ": must be no molecule of a file that ends before ",
                     *row_, " by its name");
}

void Molecule3dReader::go_to(const FramePlace& place) {
  TabledFrames::go_to(place);
  row_.reset();
  last_index_.reset();
}

bool Molecule3dReader::next(AtomsFrame& frame) {
  std::vector<std::string_view> cells;
  const bool there = next_row(frame, cells);
  if (row_) {
    check_file(there);
    ++*row_;
  }
  if (!there) {
    return false;
  }
  check_index(cells);
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto* column = std::ranges::find(molecule3d_columns, names_[i], &Molecule3dColumn::column);
    if (column != std::end(molecule3d_columns)) {
      frame.set(std::string(column->name), number(cells, i));
    }
  }
  if (!dipole_.empty()) {
    std::vector<double> dipole;
    for (const size_t i : dipole_) {
      dipole.push_back(number(cells, i));
    }
    frame.set(FrameValue{molecule3d_dipole, {3}, std::move(dipole)});
  }
  return true;
}

std::string_view Molecule3dReader::unit_of(std::string_view name) const {
  const auto* found = std::ranges::find(molecule3d_columns, name, &Molecule3dColumn::name);
  return found != std::end(molecule3d_columns) ? found->unit : TabledFrames::unit_of(name);
}

bool is_molecule3d(const std::string& folder) {
  const auto has = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::path(folder) / name);
  };
  return has("properties.csv") && (has("random_split_inds.json") || has("scaffold_split_inds.json"));
}

std::unique_ptr<FrameReader> open_molecule3d(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::string_view begin = "combined_mols_", middle = "_to_", end = ".sdf";
  std::map<int64_t, std::pair<std::string, int64_t>>
      found;  // path and next file's first molecule, by the first
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const size_t to = name.find(middle, begin.size());
    if (!name.starts_with(begin) || !name.ends_with(end) || to == std::string::npos) {
      continue;
    }
    const auto first = parse_integer(std::string_view(name).substr(begin.size(), to - begin.size()));
    const size_t behind = to + middle.size();
    const auto last = parse_integer(std::string_view(name).substr(behind, name.size() - end.size() - behind));
    if (first && last) {
      const auto [other, added] = found.try_emplace(*first, entry.path().string(), *last);
      require<DataError>(added, folder, ": must hold one file from molecule ", *first, " on, holds ",
                         other->second.first, " and ", entry.path().string());
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  require<DataError>(!found.empty(), folder,
                     ": must hold combined_mols_<first>_to_<last>.sdf of Molecule3D, holds none");
  std::vector<std::string> paths;
  Molecule3dReader::Files files;
  int64_t next = 0;
  for (const auto& [first, file] : found) {
    require<DataError>(first == next, file.first, ": must follow molecule ", next,
                       ", but no file ends there");
    next = file.second;
    paths.push_back(file.first);
    files.push_back(file);
  }
  const std::string table = (fs::path(folder) / "properties.csv").string();
  return std::make_unique<Molecule3dReader>(open_frames_of_all(std::move(paths)), open_bytes(table), table,
                                            std::move(files));
}

}  // namespace weyl
