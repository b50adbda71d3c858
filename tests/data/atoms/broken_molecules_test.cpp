// Every file of tests/fixtures/broken (tools/goldens/broken_molecules.py) with atoms is refused with one line
// that names it, the frame, the line and the fault.
#include <gtest/gtest.h>

#include "tests/data/refusals.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {
namespace broken_molecules_test {

void read_all(const std::string& path) {
  const auto reader = open_frames(path);
  for (AtomsFrame frame; reader->next(frame);) {
  }
}

TEST(BrokenMolecules, ExtendedXyz) {
  const std::string forces = "'species:S:1:pos:R:3:forces:R:3'";
  expect_refusals(
      "xyz",
      {
          {"empty", "must hold at least one frame, holds none"},
          {"blank", "must hold at least one frame, holds none"},
          {"binary", "frame 1, line 1: must be a number of atoms, got '\\x00\\x01"},
          {"no_count", "frame 1, line 1: must be a number of atoms, got 'O 0 0 0'"},
          {"negative_count", "frame 1, line 1: must be a number of atoms, got '-3'"},
          {"huge_count", "frame 1, line 3: the file ends after 1 of 999999999999999999 atoms"},
          {"overflowing_count", "frame 1, line 1: must be a number of atoms, got '99999999999999999999999'"},
          {"count_and_words", "frame 1, line 1: must be a number of atoms, got '2 atoms'"},
          {"no_comment", "frame 2, line 5: the file ends before the comment line of 2 atoms"},
          {"cut_frame", "frame 2, line 8: the file ends after 2 of 3 atoms"},
          {"cut_row", "frame 2, line 8: must have the 4 columns of 'species:S:1:pos:R:3', got 3"},
          {"count_too_large", "frame 1, line 5: must have the 4 columns of 'species:S:1:pos:R:3', got 1"},
          {"count_too_small", "frame 2, line 4: must be a number of atoms, got 'H 0 0 1'"},
          {"unknown_element", "frame 1, line 4: unknown element 'Hx'"},
          {"capital_element", "frame 1, line 4: unknown element 'CL' (did you mean 'Cl'?)"},
          {"element_119", "frame 1, line 4: an atomic number must be 0 .. 118, got 119"},
          {"nan_position", "frame 1, line 4: column 3 (pos) must be finite, got 'nan'"},
          {"infinite_position", "frame 1, line 4: column 4 (pos) must be finite, got '-inf'"},
          {"too_large_number", "frame 1, line 4: column 4 (pos) must be a number, got '1e999'"},
          {"word_as_position", "frame 1, line 4: column 4 (pos) must be a number, got 'one'"},
          {"more_columns", "(others need Properties=), got more: '0.5 0.5 0.5'"},
          {"cut_gzip", "frame 45, line 177: the gzip stream is truncated"},
          {"bad_properties", "frame 2, line 6: Properties must be name:type:columns, once or more"},
          {"property_type", "frame 2, line 6: Properties: the type of 'q' must be S, I, R or L, got 'X'"},
          {"property_width", "Properties: the columns of 'q' must be a number from 1 on, got '0'"},
          {"property_huge_width",
           "Properties: the columns of 'q' must be a number from 1 on, got '99999999999'"},
          {"property_twice", "Properties: 'q' is given twice"},
          {"no_species", "Properties must have species:S:1 or Z:I:1, got 'pos:R:3'"},
          {"no_positions", "Properties must have pos:R:3, got 'species:S:1:q:R:3'"},
          {"two_dimensions", "Properties: 'pos' must be R:3, once"},
          {"short_row", "frame 2, line 8: must have the 7 columns of " + forces + ", got 6"},
          {"long_row", "frame 2, line 7: must have the 7 columns of " + forces + ", got more: '4'"},
          {"word_as_force", "frame 2, line 7: column 6 (forces) must be a number, got '?'"},
          {"real_as_integer", "frame 2, line 7: column 5 (site) must be an integer, got '1.5'"},
          {"integer_as_logical", "frame 2, line 7: column 5 (fixed) must be T or F, got '1'"},
          {"another_z", "frame 2, line 7: the atomic number must be that of O, got 7"},
          {"z_too_large", "frame 2, line 7: an atomic number must be 0 .. 118, got 300"},
          {"open_quote_in_row", "frame 2, line 7: a quote is not closed"},
          {"open_quote", "frame 2, line 6: a quote is not closed, '\"not closed'"},
          {"open_brace", "frame 2, line 6: a brace is not closed, '{1 2 3'"},
          {"open_bracket", "frame 2, line 6: a bracket is not closed, '[1, 2'"},
          {"ragged_matrix", "the rows of a matrix must be of one length, '[[1, 2], [3]]'"},
          {"deep_array", "an array must be [a, b] or [[a, b], [c, d]], '[[[["},
          {"no_key", "frame 2, line 6: a key is missing before '=5'"},
          {"no_value", "frame 2, line 6: the value of 'energy' is missing"},
          {"key_twice", "frame 2, line 6: 'energy' is given twice"},
          {"lattice_of_six", "frame 2, line 6: Lattice must be 9 finite numbers"},
          {"lattice_nan", "Lattice must be 9 finite numbers"},
          {"lattice_words", "Lattice must be 9 finite numbers"},
          {"singular_cell", "the lattice vectors of periodic directions must be linearly independent"},
          {"zero_cell", "the lattice vectors of periodic directions must be linearly independent"},
          {"pbc_of_two", "frame 2, line 6: pbc must be one or three of T and F"},
          {"pbc_words", "pbc must be one or three of T and F"},
          {"pbc_without_cell", "frame 2, line 6: pbc is given without a Lattice"},
      },
      read_all);
}

TEST(BrokenMolecules, Qm9) {
  expect_refusals(
      "qm9",
      {
          {"binary", "frame 1, line 1: must be a number of atoms, got '\\xff"},
          {"count_too_large", "frame 2, line 12: unknown element '4400.5'"},
          {"count_too_small", "frame 2, line 11: a frequency must be a finite number, got 'H'"},
          {"cut_atoms", "frame 2, line 10: the file ends after 1 of 2 atoms"},
          {"cut_frequencies", "frame 2, line 11: the file ends before its frequencies"},
          {"cut_inchi", "frame 2, line 13: the file ends before its InChI"},
          {"empty", "must hold at least one frame, holds none"},
          {"fourteen_properties",
           "frame 2, line 9: must be gdb, an index and 15 properties, got 16 words, 'gdb "
           "7\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090."},
          {"frequency", "frame 2, line 12: a frequency must be a finite number, got 'fast'"},
          {"half_exponent", "frame 2, line 9: A must be a finite number, got '5*^'"},
          {"huge_count", "frame 2, line 8: must be a number of atoms, got '999999999999'"},
          {"huge_exponent", "frame 2, line 9: A must be a finite number, got '5*^999'"},
          {"index", "frame 2, line 9: the index must be an integer, got 'seven'"},
          {"infinite_position", "frame 2, line 11: a coordinate must be a finite number, got 'inf'"},
          {"more_columns",
           "frame 2, line 11: must have the 5 columns symbol, x, y, z, charge, got more: '3'"},
          {"more_properties",
           "frame 2, line 9: must be gdb, an index and 15 properties, got 18 words, 'gdb "
           "7\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090."},
          {"nan_property", "frame 2, line 9: A must be a finite number, got 'nan'"},
          {"negative_count", "frame 2, line 8: must be a number of atoms, got '-2'"},
          {"no_charge", "frame 2, line 11: the Mulliken charge must be a finite number, got ''"},
          {"no_tag",
           "frame 2, line 9: must be gdb, an index and 15 properties, got 17 words, 'gda "
           "7\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090.5\\x090."},
          {"three_smiles", "frame 2, line 13: must be one or two names, got '[H][H]\\x09[H]\\x09[H][H]'"},
          {"unknown_element", "frame 2, line 11: unknown element 'Q'"},
          {"word_as_count", "frame 2, line 8: must be a number of atoms, got 'two'"},
          {"word_as_property", "frame 2, line 9: A must be a finite number, got 'half'"},
      },
      read_all);
}

TEST(BrokenMolecules, Sdf) {
  expect_refusals(
      "sdf",
      {
          {"binary", "frame 1, line 2: the file ends before the counts of the molecule"},
          {"bond_beyond", "frame 2, line 20: a bond must be between two of the atoms 1 .. 2, got 1 and 3"},
          {"bond_to_itself", "frame 2, line 20: a bond must be between two of the atoms 1 .. 2, got 2 and 2"},
          {"bond_type", "frame 2, line 20: the type of a bond must be 1 .. 10, got 77"},
          {"bond_zero", "frame 2, line 20: a bond must be between two of the atoms 1 .. 2, got 0 and 2"},
          {"bonds_too_many", "frame 2, line 21: an atom of a bond must be an integer, got 'M'"},
          {"charge_code", "frame 2, line 18: the charge code must be 0 .. 7, got 9"},
          {"charge_of_none", "frame 2, line 21: an atom must be 1 .. 2, got 5"},
          {"charges_cut", "frame 2, line 21: an atom must be an integer, got ''"},
          {"count_999", "frame 2, line 20: a coordinate must be a finite number, got '1  2  2'"},
          {"count_too_large", "frame 2, line 20: a coordinate must be a finite number, got '1  2  2'"},
          {"cut_atoms", "frame 2, line 18: the file ends after 1 of 2 atoms"},
          {"cut_header", "frame 2, line 16: the file ends before the counts of the molecule"},
          {"cut_properties", "frame 2, line 21: the file ends before M  END"},
          {"empty", "must hold at least one molecule, holds none"},
          {"field_twice", "frame 2, line 28: the field 'energy' is given twice, with another value"},
          {"nameless_field", "frame 2, line 23: a data field must have a name, > <NAME>, got '> energy'"},
          {"nan_position", "frame 2, line 19: a coordinate must be a finite number, got 'nan'"},
          {"negative_count", "frame 2, line 17: the number of atoms must not be negative, got -2"},
          {"no_end", "frame 2, line 25: the molecule must end with M  END"},
          {"no_field", "frame 2, line 23: must be a data field > <NAME> or $$$$, got 'energy'"},
          {"short_line", "frame 2, line 19: unknown element ''"},
          {"unknown_element", "frame 2, line 19: unknown element 'R#'"},
          {"v3_bond_beyond", "frame 2, line 25: there is no atom 9"},
          {"v3_bond_count", "frame 2, line 27: COUNTS says 2 bonds, there are 1"},
          {"v3_charge", "frame 2, line 21: CHG must be an integer, got '+-1'"},
          {"v3_continued_into_nothing", "frame 2, line 23: a line must begin with M  V30, got 'END ATOM'"},
          {"v3_cut_block", "frame 2, line 25: the file ends before M  V30 END CTAB"},
          {"v3_huge_count", "frame 2, line 27: COUNTS says 999999999999 atoms, there are 2"},
          {"v3_index_twice", "frame 2, line 22: the atom 1 is given twice"},
          {"v3_negative_count", "frame 2, line 27: COUNTS says -2 atoms, there are 2"},
          {"v3_no_counts", "frame 2, line 19: must be COUNTS, got 'COUNT 2 1 0 0 0'"},
          {"v3_no_ctab", "frame 2, line 18: must be BEGIN CTAB, got 'BEGIN'"},
          {"v3_no_m_end", "frame 2, line 28: the molecule must end with M  END"},
          {"v3_no_prefix", "frame 2, line 20: a line must begin with M  V30, got 'BEGIN ATOM'"},
          {"v3_position", "frame 2, line 22: a coordinate must be a finite number, got 'up'"},
          {"v3_query_atom", "frame 2, line 22: unknown element '[O,N]'"},
          {"v3_word_count", "frame 2, line 19: the number of atoms must be an integer, got 'two'"},
          {"version", "frame 2, line 17: the counts line must end with V2000 or V3000, got 'V4000'"},
          {"word_as_count", "frame 2, line 17: the number of atoms must be an integer, got 'xx'"},
          {"word_as_position", "frame 2, line 19: a coordinate must be a finite number, got 'one'"},
      },
      read_all);
}

TEST(BrokenMolecules, MoleculeNpz) {
  expect_refusals(
      "molecule_npz",
      {
          {"cut_array", "entry 'F.npy': F64 of shape [3, 2, 3] must have 144 bytes, got 143"},
          {"empty", "is empty, not a zip archive"},
          {"energies_of_atoms", "the energies must be numbers of shape [3], got F64 of [3, 2]"},
          {"energies_of_four", "the energies must be numbers of shape [3], got F64 of [4]"},
          {"flat_forces", "the forces must be numbers of shape [3, 2, 3], got F64 of [3, 6]"},
          {"flat_places", "the places must be numbers of shape (frames, atoms, 3), got F64 of [3, 6]"},
          {"forces_of_two", "the forces must be numbers of shape [3, 2, 3], got F64 of [2, 2, 3]"},
          {"half_places", "the places must be numbers of shape (frames, atoms, 3), got F16 of [3, 2, 3]"},
          {"nan_place", "frame 1: the places must be finite"},
          {"no_frames", "must hold at least one frame, holds none"},
          {"no_numbers", "must have the atomic numbers, z or nuclear_charges"},
          {"no_places", "must have the places, R or coords"},
          {"number_119", "an atomic number must be 1 .. 118, got 119"},
          {"number_zero", "an atomic number must be 1 .. 118, got 0"},
          {"numbers_change", "the atoms must be the same in every frame, frame 3 has others"},
          {"numbers_of_three", "the atomic numbers must be of shape [2], got [3]"},
          {"places_of_two", "the places must be numbers of shape (frames, atoms, 3), got F64 of [3, 2, 2]"},
          {"real_numbers", "the atomic numbers: must be integers, got type F64"},
          {"two_of_energy", "there are two of 'energy'"},
          {"two_of_places", "there are two of 'coords' and its other name"},
      },
      read_all);
}

TEST(BrokenMolecules, Tar) {
  expect_refusals("tar",
                  {
                      {"binary", "cannot read the archive: Unrecognized archive format"},
                      {"broken_inside", "b/c.xyz: frame 1, line 3: the file ends after 1 of 3 atoms"},
                      {"cut", "cannot read the archive: Truncated tar archive"},
                      {"cut_gzip.tar", "cannot read the archive: truncated gzip input"},
                      {"empty", "cannot read the archive: Unrecognized archive format"},
                      {"empty_inside", "a.xyz: must hold at least one frame, holds none"},
                      {"nothing_inside", "must hold files .xyz, .extxyz, .sdf, .sd or .mol, holds none"},
                      {"text", "cannot read the archive: Unrecognized archive format"},
                  },
                  read_all);
}

}  // namespace broken_molecules_test
}  // namespace weyl
