// Every file of tests/fixtures/broken (tools/goldens/broken_molecules.py) with atoms is refused with one line
// that names it, the frame, the line and the fault.
#include <gtest/gtest.h>

#include "tests/data/refusals.h"
#include "weyl/data/formats/extended_xyz.h"

namespace weyl {
namespace {

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
          {"cut_gzip", "the gzip stream is truncated"},
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
      [](const std::string& path) {
        ExtendedXyzReader reader(path);
        for (AtomsFrame frame; reader.next(frame);) {
        }
      });
}

}  // namespace
}  // namespace weyl
