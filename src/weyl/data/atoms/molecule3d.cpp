#include "weyl/data/atoms/molecule3d.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {

Molecule3dReader::Molecule3dReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                                   std::string_view where)
    : TabledFrames(std::move(molecules), std::move(table), where, "the SDF files, which end") {
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
  for (const char* axis : {"dipole x", "dipole y", "dipole z"}) {
    dipole_.push_back(column(axis));
  }
  if (std::ranges::find(dipole_, names_.size()) != dipole_.end()) {
    dipole_.clear();
  }
}

bool Molecule3dReader::next(AtomsFrame& frame) {
  std::vector<std::string_view> cells;
  if (!next_row(frame, cells)) {
    return false;
  }
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
    frame.set(FrameValue{"dipole", {3}, std::move(dipole)});
  }
  return true;
}

std::string_view Molecule3dReader::unit_of(std::string_view name) const {
  const auto* found = std::ranges::find(molecule3d_columns, name, &Molecule3dColumn::name);
  return found != std::end(molecule3d_columns) ? found->unit : TabledFrames::unit_of(name);
}

std::unique_ptr<FrameReader> open_molecule3d(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::string_view begin = "combined_mols_", middle = "_to_", end = ".sdf";
  std::map<int64_t, std::pair<int64_t, std::string>> files;  // the last molecule and the path, by the first
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
      files[*first] = {*last, entry.path().string()};
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  require<DataError>(!files.empty(), folder,
                     ": must hold combined_mols_<first>_to_<last>.sdf of Molecule3D, holds none");
  std::vector<std::string> paths;
  int64_t next = 0;
  for (const auto& [first, file] : files) {
    require<DataError>(first == next, file.second, ": must follow molecule ", next,
                       ", but no file ends there");
    next = file.first;
    paths.push_back(file.second);
  }
  const std::string table = (fs::path(folder) / "properties.csv").string();
  return std::make_unique<Molecule3dReader>(open_frames_of_all(std::move(paths)), open_bytes(table), table);
}

}  // namespace weyl
