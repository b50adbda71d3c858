#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/frame_reader.h"
#include "weyl/data/formats/text_lines.h"

namespace weyl {

/// QM9 as MoleculeNet gives it: the molecules of gdb9.sdf, with bonds, and the table gdb9.sdf.csv with a row for each
/// of them, in their order:
///
///   mol_id,A,B,C,mu,alpha,homo,lumo,gap,r2,zpve,u0,u298,h298,g298,cv,u0_atom,u298_atom,h298_atom,g298_atom
///   gdb_1,157.7118,...
///
/// A frame is that of the SDF with the values `index` (1 of gdb_1), the fifteen under the names and in the units of
/// qm9_properties, and the energies of atomisation U0_atom, U_atom, H_atom and G_atom in kcal/mol. DataError with the
/// table and its line: a row of other columns than the first line, of another molecule than the SDF's, or that is
/// missing or too many; what is no finite number.
class Qm9TableReader : public FrameReader {
 public:
  Qm9TableReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                 std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string where() const override { return molecules_->where(); }
  std::string_view unit_of(std::string_view name) const override;

 private:
  std::unique_ptr<FrameReader> molecules_;
  TextLines table_;
  std::vector<std::string> names_;  // of the columns behind the first
};

/// Whether a path is that of such a table, by its first line.
bool is_qm9_table(const std::string& path);

}  // namespace weyl
