// The 97 inputs of an atom, a digit for each: tools/goldens/qm9_table_fixture.py took 92 from CGCNN's own table of elements and
// asked RDKit for the others.
#include "weyl/data/atoms/atom_inputs.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"

namespace weyl {
namespace atom_inputs_test {

TEST(AtomInputs, AllColumnsAreThoseOfCgcnnsTableAndOfRdkit) {
  auto frames = read(fixtures + "gdb9/gdb9.sdf");
  for (const char* file : {"v2000.sdf", "fluoride.sdf"}) {  // benzene with aromatic bonds is among them
    for (AtomsFrame& frame : read(fixtures + file)) {
      frames.push_back(std::move(frame));
    }
  }
  std::set<size_t> seen;  // columns that are not zero
  std::set<int> elements, hydrogens;
  const Json golden = Json::parse(contents_of(fixtures + "gdb9/inputs.json"), "inputs.json");
  ASSERT_EQ(golden.items().size(), frames.size());
  for (size_t f = 0; f < frames.size(); ++f) {
    Reals inputs{7};  // what is there stays
    append_atom_inputs(inputs, frames[f], "a");
    const auto& rows = golden.items()[f].items();
    ASSERT_EQ(rows.size(), frames[f].numbers.size());
    ASSERT_EQ(inputs.size(), 1 + 97 * rows.size());
    for (size_t atom = 0; atom < rows.size(); ++atom) {
      const std::string digits = rows[atom].string_or("");
      ASSERT_EQ(digits.size(), 97u);
      for (size_t k = 0; k < 97; ++k) {
        EXPECT_EQ(inputs[1 + 97 * atom + k], digits[k] - '0')
            << "molecule " << f << ", atom " << atom << ", column " << k;
        if (digits[k] != '0') {
          seen.insert(k);
        }
      }
      elements.insert(frames[f].numbers[atom]);
      hydrogens.insert(digits[96] - '0');
    }
  }
  // All that can occur: those of the five elements of QM9, and the number of hydrogens.
  EXPECT_EQ(elements, (std::set<int>{1, 6, 7, 8, 9}));
  EXPECT_EQ(hydrogens, (std::set<int>{0, 1, 2, 3, 4}));
  const std::set<size_t> all{1,  14, 15, 16, 17, 19, 20, 30, 31, 33, 34, 35, 36, 37, 38, 46,
                             49, 50, 51, 52, 63, 64, 65, 70, 73, 74, 77, 78, 79, 82, 86, 96};
  EXPECT_EQ(seen, all);
}

TEST(AtomInputs, OtherElementsAreRefused) {
  AtomsFrame frame;
  frame.numbers = {6, 16};
  Reals inputs;
  EXPECT_EQ(message_of<DataError>([&] { append_atom_inputs(inputs, frame, "a.sdf: frame 1"); }),
            "a.sdf: frame 1: atom 2 must be one of H, C, N, O and F for the inputs \"pyg\", got S");
}

}  // namespace atom_inputs_test
}  // namespace weyl
