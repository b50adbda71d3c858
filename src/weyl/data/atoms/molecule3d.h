#pragma once

#include <memory>
#include <string>
#include <string_view>
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

/// Molecule3D (Xu et al., arXiv:2110.01717): the molecules of its large SDF files, one after the other, each with its row of
/// properties.csv, in the same order:
///
///   index,dipole x,dipole y,dipole z,homo,lumo,homolumogap,scf energy
///   0,-0.15,0.43,...
///
/// A frame is that of the SDF with the values of molecule3d_columns, and `dipole` (3) where the table has its three
/// columns. Other columns are passed over. DataError with the table and its line: no column homolumogap, a column given twice,
/// a row of other columns than the first line, one that is missing or too many, what is no finite number.
class Molecule3dReader : public TabledFrames {
 public:
  Molecule3dReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                   std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string_view unit_of(std::string_view name) const override;

 private:
  std::vector<size_t> dipole_;  // its three columns, or none
};

/// The reader of a folder of the data set's own files: combined_mols_<first>_to_<last>.sdf in the order of their first
/// molecules, and properties.csv. DataError: one of them is missing, or the SDF files do not follow one another.
std::unique_ptr<FrameReader> open_molecule3d(const std::string& folder);

}  // namespace weyl
