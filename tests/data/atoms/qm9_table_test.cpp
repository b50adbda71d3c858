// QM9 as MoleculeNet gives it, an SDF file and a table; tools/goldens/qm9_table_fixture.py wrote them with RDKit.
#include "weyl/data/atoms/qm9.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace qm9_table_test {

const std::string gdb9 = fixtures + "gdb9/gdb9.sdf";

TEST(Qm9Table, MoleculesWithTheirBondsAndRows) {
  EXPECT_TRUE(is_qm9_table(gdb9 + ".csv"));
  EXPECT_FALSE(is_qm9_table(gdb9));
  EXPECT_FALSE(is_qm9_table(gdb9 + ".none"));
  for (const std::string& path : {gdb9, fixtures + "gdb9"}) {
    const auto frames = read(path);
    ASSERT_EQ(frames.size(), 5);
    EXPECT_EQ(frames[0].numbers, (std::vector{6, 1, 1, 1, 1}));
    EXPECT_EQ(frames[0].bonds.size(), 4);
    EXPECT_EQ(frames[2].bonds[0], (Bond{0, 1, 3}));  // C#N
    EXPECT_EQ(frames[4].column("formal_charges")->values,
              FrameValues(Integers{1, 0, 0, -1, 0, 0, 0, 0, 0, 0}));
    const std::vector<int64_t> indices{1, 2, 14, 50, 101};
    for (size_t row = 0; row < frames.size(); ++row) {
      EXPECT_EQ(real(frames[row], "index"), static_cast<double>(indices[row]));
      const char* names[] = {"A",  "B", "C", "mu", "alpha", "homo",    "lumo",   "gap",    "r2",    "zpve",
                             "U0", "U", "H", "G",  "Cv",    "U0_atom", "U_atom", "H_atom", "G_atom"};
      for (size_t k = 0; k < std::size(names); ++k) {
        EXPECT_EQ(real(frames[row], names[k]), -static_cast<double>(row) - static_cast<double>(k + 1) / 32)
            << names[k];
      }
    }
  }
  const auto reader = open_frames(gdb9);
  EXPECT_EQ(reader->unit_of("U"), "Hartree");
  EXPECT_EQ(reader->unit_of("U_atom"), "kcal/mol");
  EXPECT_EQ(reader->unit_of("alpha"), "Bohr^3");
  EXPECT_EQ(reader->unit_of("pos"), "Angstrom");
}

TEST(Qm9Table, FaultsAreNamedWithTheLineOfTheTable) {
  const Folder folder;
  const std::string molecules = contents_of(gdb9), sound = contents_of(gdb9 + ".csv"),
                    sdf = folder / "gdb9.sdf";
  std::ofstream(sdf) << molecules;
  const auto fault = [&](const std::string& table) {
    std::ofstream(sdf + ".csv") << table;
    return message_of<DataError>([&] { read(sdf); });
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string table = sound;
    table.replace(table.find(from), from.size(), to);
    return fault(table);
  };
  EXPECT_EQ(fault(sound), "");
  EXPECT_EQ(changed("gdb_2,", "gdb_3,"),
            sdf + ".csv: line 3: must be of the molecule 'gdb_2' of the SDF file, is of 'gdb_3'");
  EXPECT_EQ(changed("gdb_2,", "mol_2,"),
            sdf + ".csv: line 3: must begin with a molecule as gdb_1, got 'mol_2'");
  EXPECT_EQ(changed("gdb_1,-0.03125", "gdb_1,none"),
            sdf + ".csv: line 2: A must be a finite number, got 'none'");
  EXPECT_EQ(changed("gdb_1,-0.03125", "gdb_1,inf"),
            sdf + ".csv: line 2: A must be a finite number, got 'inf'");
  EXPECT_EQ(changed("gdb_1,-0.03125,", "gdb_1,"),
            sdf + ".csv: line 2: must have the 20 columns of the first line, has 19");
  EXPECT_EQ(changed("r2,zpve", "r2,r2"),
            sdf + ".csv: line 1: must name each column once, 'r2' is none or given twice");
  const size_t last = sound.rfind("gdb_101");
  EXPECT_TRUE(fault(sound.substr(0, last))
                  .starts_with(sdf + ".csv: must have a row for each molecule, ends before "));
  EXPECT_EQ(fault(sound + sound.substr(last)),
            sdf + ".csv: line 7: a row must have a molecule of the SDF file, which ends before");
  fault("name,value\n");  // a table of another kind: the SDF file alone
  EXPECT_EQ(read(sdf).at(0).value("A"), nullptr);
}

}  // namespace qm9_table_test
}  // namespace weyl
