// Molecule3D's own files; tools/goldens/listed_molecules_fixture.py wrote them with RDKit.
#include "weyl/data/atoms/molecule3d.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace molecule3d_test {

namespace fs = std::filesystem;

const std::string published = fixtures + "molecule3d";

TEST(Molecule3d, MoleculesOfAllFilesWithTheirRows) {
  const auto reader = open_molecule3d(published);
  const auto frames = frames_of(*reader);
  ASSERT_EQ(frames.size(), 5);
  EXPECT_EQ(frames[0].numbers, (std::vector{6, 1, 1, 1, 1}));
  EXPECT_EQ(frames[3].size(), 10);  // of the second file: pyrrole
  for (size_t row = 0; row < frames.size(); ++row) {
    const auto value = [&](int column) { return -static_cast<double>(row) - column / 32.0; };
    EXPECT_EQ(real(frames[row], "homo"), value(4));
    EXPECT_EQ(real(frames[row], "lumo"), value(5));
    EXPECT_EQ(real(frames[row], "homolumogap"), value(6));
    EXPECT_EQ(real(frames[row], "scf_energy"), value(7));
    EXPECT_EQ(frames[row].value("dipole")->values, FrameValues(Reals{value(1), value(2), value(3)}));
  }
  EXPECT_EQ(reader->unit_of("homolumogap"), "eV");
  EXPECT_EQ(reader->unit_of("pos"), "Angstrom");
}

TEST(Molecule3d, AnyMoleculeAtItsPlace) {
  const auto reader = open_molecule3d(published);
  std::vector<FramePlace> places;
  std::vector<AtomsFrame> frames;
  AtomsFrame frame;
  for (auto place = reader->place(); reader->next(frame); place = reader->place()) {
    places.push_back(place.value());
    frames.push_back(frame);
  }
  const auto other = open_molecule3d(published);
  for (const size_t i : {4, 1, 2, 3, 0, 3}) {
    other->go_to(places[i]);
    ASSERT_TRUE(other->next(frame));
    EXPECT_EQ(frame, frames[i]) << i;
  }
  ASSERT_TRUE(other->next(frame));
  EXPECT_EQ(frame, frames[4]);
  EXPECT_FALSE(other->next(frame));
}

/// A copy of the files in which one of them is changed.
std::string refusal(const std::string& name, const std::string& from, const std::string& to) {
  const Folder folder;
  for (const auto& entry : fs::directory_iterator(published)) {
    fs::copy(entry.path(), folder / entry.path().filename().string());
  }
  std::string all = contents_of(folder / name);
  all.replace(all.find(from), from.size(), to);
  std::ofstream(folder / name) << all;
  return message_of<DataError>([&] { frames_of(*open_molecule3d(folder.path())); });
}

TEST(Molecule3d, FaultsAreNamedWithTheLineOfTheTable) {
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(refusal("properties.csv", "homolumogap", "gap"), "must have a column homolumogap");
  says(refusal("properties.csv", "homo,", "lumo,"),
       "properties.csv: line 1: must name each column once, 'lumo'");
  says(refusal("properties.csv", "-1.125", "none"),
       "properties.csv: line 3: homo must be a finite number, got 'none'");
  says(refusal("properties.csv", "-1.125", "nan"), "line 3: homo must be a finite number");
  says(refusal("properties.csv", "-1.125,", ""), "line 3: must have the 8 columns of the first line, has 7");
  says(refusal("properties.csv", "\n4,", "\n\n"), "line 7: must have the 8 columns");
  says(refusal("properties.csv", "\n0,", "\n7,1,1,1,1,1,1,1\n0,"),
       "a row must have a molecule of the SDF files");
  says(refusal("combined_mols_3_to_5.sdf", "M  END",
               "M  END\n$$$$\n\n\n\n  0  0  0  0  0  0            999 V2000\nM  END"),
       "must have a row for each molecule, ends before");
  says(refusal("combined_mols_0_to_3.sdf", "M  END\n", ""), "must end with M  END");
  says(refusal("properties.csv", "\n2,", "\n1,"), "properties.csv: line 4: index must ascend");
  EXPECT_EQ(refusal("properties.csv", "\n3,", "\n0,"), "");  // each file may count its own
}

TEST(Molecule3d, FilesHoldTheMoleculesOfTheirNames) {
  const auto renamed = [](const char* first, const char* second) {
    const Folder folder;
    fs::copy(fs::path(published) / "properties.csv", folder / "properties.csv");
    fs::copy(fs::path(published) / "combined_mols_0_to_3.sdf", folder / first);
    fs::copy(fs::path(published) / "combined_mols_3_to_5.sdf", folder / second);
    return message_of<DataError>([&] { frames_of(*open_molecule3d(folder.path())); });
  };
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(renamed("combined_mols_0_to_4.sdf", "combined_mols_4_to_5.sdf"),
       "combined_mols_0_to_4.sdf: must hold the molecules to 3 as its name says, but molecule 3 is at ");
  says(renamed("combined_mols_0_to_2.sdf", "combined_mols_2_to_5.sdf"), "but molecule 2 is at ");
  says(renamed("combined_mols_0_to_3.sdf", "combined_mols_3_to_6.sdf"), "but molecule 5 is not there");
  says(renamed("combined_mols_0_to_3.sdf", "combined_mols_3_to_4.sdf"),
       "must be no molecule of a file that ends before 4");
  says(renamed("combined_mols_0_to_3.sdf", "combined_mols_00_to_5.sdf"),
       "must hold one file from molecule 0 on");
}

TEST(Molecule3d, FilesMustFollowOneAnother) {
  const Folder folder;
  EXPECT_NE(message_of<DataError>([&] { open_molecule3d(folder.path()); }).find("holds none"),
            std::string::npos);
  fs::copy(fs::path(published) / "properties.csv", folder / "properties.csv");
  fs::copy(fs::path(published) / "combined_mols_3_to_5.sdf", folder / "combined_mols_3_to_5.sdf");
  EXPECT_NE(message_of<DataError>([&] { open_molecule3d(folder.path()); }).find("must follow molecule 0"),
            std::string::npos);
}

}  // namespace molecule3d_test
}  // namespace weyl
