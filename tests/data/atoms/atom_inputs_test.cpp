// The 97 inputs of an atom; tools/goldens/qm9_table_fixture.py asked RDKit for them, a digit for each.
#include "weyl/data/atoms/atom_inputs.h"

#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/data/formats/molecule_frames.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/read_file.h"

namespace weyl {
namespace {

TEST(AtomInputs, AllColumnsAreThoseOfRdkit) {
  auto frames = read(fixtures + "gdb9/gdb9.sdf");
  for (AtomsFrame& frame : read(fixtures + "v2000.sdf")) {
    frames.push_back(std::move(frame));  // benzene with aromatic bonds is among them
  }
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
      }
    }
  }
}

TEST(AtomInputs, OtherElementsAreRefused) {
  AtomsFrame frame;
  frame.numbers = {6, 16};
  Reals inputs;
  EXPECT_EQ(message_of<DataError>([&] { append_atom_inputs(inputs, frame, "a.sdf: frame 1"); }),
            "a.sdf: frame 1: atom 2 must be one of H, C, N, O and F for the inputs \"pyg\", got S");
}

}  // namespace
}  // namespace weyl
