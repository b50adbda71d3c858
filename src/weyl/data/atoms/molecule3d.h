#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/data/atoms/tabled_frames.h"

namespace weyl {

/// A column of Molecule3D's properties.csv that becomes a value, its name here and its unit (empty: nobody says).
struct Molecule3dColumn {
  std::string_view column, name, unit;
};
constexpr Molecule3dColumn molecule3d_columns[] = {{"homo", "homo", "eV"},
                                                   {"lumo", "lumo", "eV"},
                                                   {"homolumogap", "homolumogap", "eV"},
                                                   {"scf energy", "scf_energy", ""}};

/// The value of its three columns `dipole x`, `dipole y` and `dipole z`, a vector in the axes of the SDF files; nobody says its unit.
constexpr const char* molecule3d_dipole = "dipole";

/// Molecule3D (Xu et al., arXiv:2110.01717): the molecules of its large SDF files, one after the other, each with its row of
/// properties.csv, in the same order:
///
///   index,dipole x,dipole y,dipole z,homo,lumo,homolumogap,scf energy
///   0,-0.15,0.43,...
///
/// A frame is that of the SDF with the values of molecule3d_columns, and `dipole` (3) where the table has its three
/// columns. Other columns are passed over. DataError with the table and its line: no column homolumogap, a column given twice,
/// a row of other columns than the first line, one that is missing or too many, what is no finite number; a column `index`
/// whose integers do not ascend (each file may begin again at 0), as those of rows in another order.
class Molecule3dReader : public TabledFrames {
 public:
  /// Of the files that hold the molecules, path and first molecule of the next one, in their order: DataError where one file
  /// holds more or fewer. None: one file, of any number.
  using Files = std::vector<std::pair<std::string, int64_t>>;
  Molecule3dReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                   std::string_view where, Files files = {});

  bool next(AtomsFrame& frame) override;
  std::string_view unit_of(std::string_view name) const override;
  void go_to(const FramePlace& place) override;

 private:
  void check_file(bool there) const;
  void check_index(const std::vector<std::string_view>& cells);

  std::vector<size_t> dipole_;  // its three columns, or none
  size_t index_ = 0;            // the column; as many as there are columns: none
  Files files_;
  // Of the rows read one after the other from the first on; nothing once the reader has gone to another.
  std::optional<int64_t> row_ = 0, last_index_;
};

/// Whether a folder has the table and a list of splits of the set, of which molecules may be missing.
bool is_molecule3d(const std::string& folder);

/// The reader of a folder of the data set's own files: combined_mols_<first>_to_<last>.sdf in the order of their first
/// molecules, and properties.csv. DataError: one of them is missing, the SDF files do not follow one another, or one of them
/// does not hold as many molecules as its name says.
std::unique_ptr<FrameReader> open_molecule3d(const std::string& folder);

}  // namespace weyl
