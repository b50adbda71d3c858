#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/tabled_frames.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

/// A property of QM9's files, in their order, under the names that the data set's authors use, with its unit.
struct Qm9Property {
  std::string_view name, unit;
};
constexpr Qm9Property qm9_properties[] = {
    {"A", "GHz"},        {"B", "GHz"},        {"C", "GHz"},       {"mu", "Debye"},  {"alpha", "Bohr^3"},
    {"homo", "Hartree"}, {"lumo", "Hartree"}, {"gap", "Hartree"}, {"r2", "Bohr^2"}, {"zpve", "Hartree"},
    {"U0", "Hartree"},   {"U", "Hartree"},    {"H", "Hartree"},   {"G", "Hartree"}, {"Cv", "cal/mol/K"}};

/// The molecules of QM9's own files (`gdb 1 ...` on the second line; Ramakrishnan et al., 2014), in which
/// numbers may be written 1.2*^-5: values `index`, the properties above, `frequencies`, `smiles` and `inchi`,
/// and those of the relaxed geometry, `smiles_relaxed` and `inchi_relaxed`, where they are given; the column
/// `mulliken`. Several molecules may follow one another. DataError with file, frame and line: a frame that
/// ends early, a wrong number of columns, what is no number or not finite, an element that is none.
class Qm9Reader : public FrameReader {
 public:
  Qm9Reader(std::unique_ptr<ByteSource> source, std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  std::optional<FramePlace> place() override { return place_of(lines_); }
  void go_to(const FramePlace& place) override { lines_.go_to(place.at); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const;
  double number(std::string_view word, const char* what) const;
  void next_line(const char* what);
  void read_properties(AtomsFrame& frame);
  void read_atom(AtomsFrame& frame, std::vector<double>& mulliken);
  void read_names(AtomsFrame& frame, const std::string& name);

  TextLines lines_;
  int64_t first_line_ = 0;
};

/// Whether the second line of a file is QM9's.
bool is_qm9(std::string_view begin_of_file);

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
class Qm9TableReader : public TabledFrames {
 public:
  Qm9TableReader(std::unique_ptr<FrameReader> molecules, std::unique_ptr<ByteSource> table,
                 std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string_view unit_of(std::string_view name) const override;
};

/// Whether a path is that of such a table, by its first line.
bool is_qm9_table(const std::string& path);

}  // namespace weyl
