// PCQM4Mv2's own files and conformers; tools/goldens/listed_molecules_fixture.py wrote them with RDKit.
#include "weyl/data/atoms/pcqm4mv2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/algebra/lie/kabsch.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/data/atoms/sdf.h"

namespace weyl {
namespace pcqm4mv2_test {

namespace fs = std::filesystem;

const std::string published = fixtures + "pcqm4mv2";

std::vector<double> places_of(const AtomsFrame& frame, const char* column) {
  const AtomColumn* found = frame.column(column);
  return found == nullptr ? std::vector<double>() : std::get<Reals>(found->values);
}

TEST(Pcqm4mv2, MoleculesWithAllConformersAndTheGeometry) {
  const Pcqm4mv2Files files(published, 3);
  EXPECT_EQ(files.splits().at("train"), (Integers{0, 1, 2}));
  const auto reader = files.open();
  const auto frames = frames_of(*reader);
  ASSERT_EQ(frames.size(), 5);
  EXPECT_EQ(frames[0].numbers, (std::vector{6, 8}));  // no hydrogens
  EXPECT_EQ(frames[3].numbers, (std::vector{6, 6, 8, 8}));
  // Conformer by conformer, as the SDF file has them; molecule 2 has one, three times.
  const auto conformers = read(published + "/conformers.sdf");
  for (size_t row = 0; row < 5; ++row) {
    const auto n = static_cast<size_t>(frames[row].size());
    const std::vector<double> all = places_of(frames[row], conformers_column);
    ASSERT_EQ(all.size(), 9 * n);
    const size_t first = row < 3 ? 3 * row : 3 * row - 2;
    for (size_t c = 0; c < 3; ++c) {
      const auto& wanted = conformers[row == 2 ? first : first + c].positions;
      for (size_t i = 0; i < 3 * n; ++i) {
        EXPECT_EQ(all[i / 3 * 9 + 3 * c + i % 3], wanted[i]);
      }
    }
    EXPECT_EQ(places_of(frames[row], relaxed_column).size(), row < 3 ? 3 * n : 0);
    if (row < 4) {
      EXPECT_EQ(real(frames[row], "gap"), 5 - static_cast<double>(row) / 32);
    }
  }
  EXPECT_EQ(frames[4].value("gap"), nullptr);
  // The heavy atoms of the second geometry are its first ones: RDKit adds hydrogens behind them.
  const auto relaxed = read(published + "/pcqm4m-v2-train.sdf");
  const std::vector<double> second = places_of(frames[1], relaxed_column);
  EXPECT_EQ(second, Reals(relaxed[1].positions.begin(),
                          relaxed[1].positions.begin() + static_cast<ptrdiff_t>(second.size())));
}

TEST(Pcqm4mv2, AnyMoleculeAtItsPlace) {
  const Pcqm4mv2Files files(published, 2);
  const auto reader = files.open();
  std::vector<FramePlace> places;
  std::vector<AtomsFrame> frames;
  AtomsFrame frame;
  for (auto place = reader->place(); reader->next(frame); place = reader->place()) {
    places.push_back(place.value());
    frames.push_back(frame);
  }
  EXPECT_EQ(frames, frames_of(*files.open()));  // whether or not it is asked where it is
  const auto other = files.open();
  for (const size_t i : {4, 1, 2, 0, 2, 3}) {
    other->go_to(places[i]);
    ASSERT_TRUE(other->next(frame));
    EXPECT_EQ(frame, frames[i]) << i;
  }
  ASSERT_TRUE(other->next(frame));
  EXPECT_EQ(frame, frames[4]);
  EXPECT_FALSE(other->next(frame));
}

/// The molecule with its atoms in reverse order.
AtomsFrame reversed(AtomsFrame frame) {
  const int64_t last = frame.size() - 1;
  std::ranges::reverse(frame.numbers);
  std::vector<double> places;
  for (int64_t i = last; i >= 0; --i) {
    const double* x = frame.positions.data() + 3 * i;
    places.insert(places.end(), x, x + 3);
  }
  frame.positions = std::move(places);
  for (AtomColumn& column : frame.columns) {
    std::visit([](auto& values) { std::ranges::reverse(values); }, column.values);
  }
  for (Bond& bond : frame.bonds) {
    bond = {last - bond.second, last - bond.first, bond.order};
  }
  return frame;
}

/// A copy of the files in which every molecule of one of them is `changed`, with its number in the file.
void write_changed(const Folder& folder, const std::string& name,
                   const std::function<AtomsFrame(AtomsFrame, size_t)>& changed) {
  for (const auto& entry : fs::directory_iterator(published)) {
    fs::copy(entry.path(), folder / entry.path().filename().string());
  }
  std::string sdf;
  size_t number = 0;
  for (AtomsFrame& frame : read(published + "/" + name)) {
    append_sdf(sdf, changed(std::move(frame), number++));
  }
  std::ofstream(folder / name) << sdf;
}

// The published geometries need not have their atoms in the order of the SMILES that the conformers are made from.
TEST(Pcqm4mv2, AtomsAreMatchedByTheirBonds) {
  const auto expected = frames_of(*Pcqm4mv2Files(published, 3).open());
  for (const char* name : {"pcqm4m-v2-train.sdf", "conformers.sdf"}) {
    const Folder folder;
    const bool conformers = std::string_view(name) == "conformers.sdf";
    write_changed(folder, name, [&](AtomsFrame frame, size_t number) {
      // Of conformers only others than the first, to which all are brought.
      const bool first = number % 3 == 0 && number != 6;
      return conformers && first ? frame : reversed(std::move(frame));
    });
    const auto frames = frames_of(*Pcqm4mv2Files(folder.path(), 3).open());
    ASSERT_EQ(frames.size(), expected.size());
    for (const size_t row : {0, 1}) {  // no two of their atoms are alike
      for (const char* column : {relaxed_column, conformers_column}) {
        EXPECT_EQ(places_of(frames[row], column), places_of(expected[row], column)) << name << " " << row;
      }
    }
  }
}

/// 2-methylpropan-2-ol without hydrogens, its atoms in another order and turned about z.
AtomsFrame butanol(const std::vector<size_t>& order, double angle) {
  const std::vector<int> numbers{6, 6, 6, 6, 8};
  const double places[5][3] = {
      {0, 0, 0}, {1.5, 0.1, 0}, {-0.5, 1.4, 0.2}, {-0.6, -0.8, 1.1}, {-0.3, -0.5, -1.3}};
  AtomsFrame frame;
  std::vector<int64_t> place(5);
  for (size_t i = 0; i < 5; ++i) {
    const double* x = places[order[i]];
    place[order[i]] = static_cast<int64_t>(i);
    frame.numbers.push_back(numbers[order[i]]);
    frame.positions.insert(frame.positions.end(), {std::cos(angle) * x[0] - std::sin(angle) * x[1],
                                                   std::sin(angle) * x[0] + std::cos(angle) * x[1], x[2]});
  }
  for (size_t i = 1; i < 5; ++i) {
    frame.bonds.push_back({place[0], place[i], 1});
  }
  frame.columns = {{"formal_charges", 1, Integers(5, 0)}};
  return frame;
}

std::vector<Vector3> rows_of(const std::vector<double>& values, size_t which, size_t count) {
  std::vector<Vector3> rows;
  for (size_t i = 0; i < values.size() / (3 * count); ++i) {
    const double* x = values.data() + 3 * (i * count + which);
    rows.push_back({x[0], x[1], x[2]});
  }
  return rows;
}

// The three methyls are alike in the graph, and not in space: a geometry that is a conformer is found to be it.
TEST(Pcqm4mv2, AtomsThatAreAlikeAreMatchedInSpace) {
  const Folder folder;
  std::ofstream(folder / "data.csv") << "idx,smiles,homolumogap\n0,CC(C)(C)O,5\n";
  std::ofstream(folder / "split_dict.json") << R"({"train": [0], "valid": [], "test-dev": []})";
  std::string conformers, relaxed;
  for (const auto& order : std::vector<std::vector<size_t>>{{0, 1, 2, 3, 4}, {3, 2, 0, 4, 1}}) {
    AtomsFrame frame = butanol(order, 0.3);
    frame.set(FrameValue{"idx", {}, Integers{0}});
    append_sdf(conformers, frame);
  }
  append_sdf(relaxed, butanol({4, 2, 3, 1, 0}, -1.2));
  std::ofstream(folder / "conformers.sdf") << conformers;
  std::ofstream(folder / "pcqm4m-v2-train.sdf") << relaxed;
  const auto frames = frames_of(*Pcqm4mv2Files(folder.path(), 2).open());
  ASSERT_EQ(frames.size(), 1);
  const auto target = rows_of(places_of(frames[0], relaxed_column), 0, 1);
  for (size_t c = 0; c < 2; ++c) {
    const auto conformer = rows_of(places_of(frames[0], conformers_column), c, 2);
    ASSERT_EQ(conformer.size(), 5);
    const RigidFit fit = kabsch(target, conformer);
    for (size_t i = 0; i < 5; ++i) {
      const Vector3 at = fit(target[i]);
      for (size_t d = 0; d < 3; ++d) {
        EXPECT_NEAR(at[d], conformer[i][d], 3e-4) << c << " " << i;  // places have four decimals
      }
    }
  }
}

TEST(Pcqm4mv2, AnIsomerIsRefused) {
  for (const char* name : {"pcqm4m-v2-train.sdf", "conformers.sdf"}) {
    const Folder folder;
    write_changed(folder, name, [](AtomsFrame frame, size_t number) {
      if (frame.numbers.size() > 6 && number % 3 == 1) {  // pyridone: its oxygen at the next atom of the ring
        frame.bonds.front().second += 1;
        EXPECT_EQ(frame.bonds.front().first, 0);
      }
      return frame;
    });
    const std::string said =
        message_of<DataError>([&] { frames_of(*Pcqm4mv2Files(folder.path(), 3).open()); });
    EXPECT_NE(said.find("must have the atoms and bonds of molecule 1"), std::string::npos) << name << said;
  }
}

// Messages name the molecule that was given, not the one that was looked at to know where it ends.
TEST(Pcqm4mv2, ItsPlaceIsThatOfItsFirstConformer) {
  const auto reader = Pcqm4mv2Files(published, 3).open();
  AtomsFrame frame;
  for (const char* place : {": frame 1, line 1", ": frame 4, line "}) {
    ASSERT_TRUE(reader->next(frame));
    EXPECT_NE(reader->where().find(place), std::string::npos) << reader->where();
  }
}

TEST(Pcqm4mv2, AGeometryTooManyIsRefused) {
  const Folder folder;
  write_changed(folder, "pcqm4m-v2-train.sdf", [](AtomsFrame frame, size_t) { return frame; });
  std::ofstream(folder / "pcqm4m-v2-train.sdf", std::ios::app)
      << contents_of(published + "/pcqm4m-v2-train.sdf");
  const std::string said = message_of<DataError>([&] { frames_of(*Pcqm4mv2Files(folder.path(), 3).open()); });
  EXPECT_NE(said.find("frame 4, line"), std::string::npos) << said;
  EXPECT_NE(said.find("must have no more geometries than the 3 training molecules"), std::string::npos);
}

TEST(Pcqm4mv2, HydrogensOfHeavyAtomsAreRemoved) {
  AtomsFrame frame;  // H-C(-D)-H-.., the second bridging two carbons, and a hydrogen molecule's
  frame.numbers = {1, 6, 1, 1, 6, 1, 1};
  for (int i = 0; i < 21; ++i) {
    frame.positions.push_back(i);
  }
  frame.columns = {{"formal_charges", 1, Integers(7, 0)},
                   {std::string(isotopes_column), 1, Integers{0, 0, 2, 0, 0, 0, 0}}};
  frame.bonds = {{0, 1, 1}, {1, 2, 1}, {1, 3, 1}, {3, 4, 1}, {1, 4, 1}, {5, 6, 1}};
  remove_hydrogens(frame);
  EXPECT_EQ(frame.numbers, (std::vector{6, 1, 1, 6, 1, 1}));
  EXPECT_EQ(frame.positions.front(), 3);
  EXPECT_EQ(frame.bonds, (std::vector<Bond>{{0, 1, 1}, {0, 2, 1}, {2, 3, 1}, {0, 3, 1}, {4, 5, 1}}));
  check_frame(frame, "test");
}

/// A copy of the files in which one of them is changed.
std::string refusal(const std::string& name, const std::string& from, const std::string& to,
                    size_t times = 1) {
  const Folder folder;
  for (const auto& entry : fs::directory_iterator(published)) {
    fs::copy(entry.path(), folder / entry.path().filename().string());
  }
  std::string all = contents_of(folder / name);
  for (size_t at = 0; times > 0; --times, at += to.size()) {
    at = all.find(from, at);
    all.replace(at, from.size(), to);
  }
  std::ofstream(folder / name) << all;
  return message_of<DataError>([&] { frames_of(*Pcqm4mv2Files(folder.path(), 3).open()); });
}

TEST(Pcqm4mv2, FaultsAreNamedWithTheirPlace) {
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const auto idx = [](const char* row) { return text("<idx>  (", row); };
  says(refusal("conformers.sdf", idx("1) \n0"), idx("1) \n7")), "must have the field idx, the row 0 .. 4");
  says(refusal("conformers.sdf", idx("1) \n0"), idx("1) \nx")), "must have the field idx");
  says(refusal("conformers.sdf", "<idx>", "<index>"), "must have the field idx");
  for (const char* bonds : {"1 99", "0 1", "x"}) {
    says(refusal("conformers.sdf", ">  <idx>", text(">  <aromatic_bonds>\n", bonds, "\n\n>  <idx>")),
         "frame 1, line 1: aromatic_bonds must be numbers of its bonds 1 .. ");
  }
  says(refusal("conformers.sdf", idx("4) \n1"), idx("4) \n3")),
       "molecules must follow one another, idx must be 1, is 3");
  says(refusal("conformers.sdf", " O   0", " N   0"),
       "must have the atoms and bonds of molecule 0, whose conformers begin at ");
  says(refusal("conformers.sdf", idx("2) \n0"), idx("2) \n1")),
       "must have the atoms and bonds of molecule 1");
  says(refusal("pcqm4m-v2-train.sdf", "M  END\n", ""), "must end with M  END");
}

std::vector<double> gaps_of(const std::string& path) {
  return read_pcqm4mv2_gaps(open_bytes(path), path);
}

TEST(Pcqm4mv2, TheTableOfGaps) {
  const Folder folder;
  const auto refusal_of = [&](const std::string& table) {
    std::ofstream(folder / "data.csv") << table;
    return message_of<DataError>([&] { gaps_of(folder / "data.csv"); });
  };
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(refusal_of("idx,gap\n"), "must begin with idx,smiles,homolumogap");
  says(refusal_of(""), "must begin with idx,smiles,homolumogap");
  says(refusal_of("idx,smiles,homolumogap\n1,C,2\n"), "line 2: must be of idx 0, is of '1'");
  says(refusal_of("idx,smiles,homolumogap\n0,C\n"), "must have three columns, has 2");
  says(refusal_of("idx,smiles,homolumogap\n0,C,inf\n"), "must be a finite number or nothing, got 'inf'");
  EXPECT_TRUE(std::isnan(gaps_of(published + "/data.csv.gz").at(4)));
}

}  // namespace pcqm4mv2_test
}  // namespace weyl
