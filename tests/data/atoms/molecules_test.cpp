// The sets of frames: their splits, MD17, QM9.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/folder.h"
#include "tests/data/molecules.h"

#include "weyl/data/open.h"

namespace weyl {
namespace molecules_test {

namespace fs = std::filesystem;

std::string frames(int count, double from = 0) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += frame("energy=" + std::to_string(from + i), i % 2 == 0 ? "O" : "H");
  }
  return all;
}

std::vector<double> energies(const Dataset& data) {
  const Tensor e = all_of(data).labels.at("energy").contiguous();
  return {e.const_data_ptr<double>(), e.const_data_ptr<double>() + e.numel()};
}

TEST_F(Molecules, OfOneFileAreSplitAtRandom) {
  MoleculesDataOptions o;
  o.path = file("all.xyz", frames(20));
  const Splits by_fractions = open_set(o);
  EXPECT_EQ(by_fractions.train->size(), 16);
  EXPECT_EQ(by_fractions.valid->size(), 2);
  EXPECT_EQ(by_fractions.test->size(), 2);
  o.train = 5;
  o.valid = 3;
  const Splits splits = open_set(o);
  std::vector<double> all;
  for (const auto& part : {splits.train, splits.valid, splits.test}) {
    const auto e = energies(*part);
    all.insert(all.end(), e.begin(), e.end());
  }
  EXPECT_EQ(splits.test->size(), 12);
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(all[i], i);  // each once
  }
  EXPECT_EQ(energies(*splits.train), energies(*open_set(o).train));
  o.seed = 1;
  EXPECT_NE(energies(*splits.train), energies(*open_set(o).train));
  o.train = 18;
  EXPECT_THROW(open_set(o), DataError);
  const Splits tested = open_splits(all_of(DataOptions{o}, o.path));
  EXPECT_EQ(tested.test->size(), 20);
  EXPECT_EQ(tested.train, nullptr);
}

TEST_F(Molecules, OfFilesAreTheirSplits) {
  file("train.extxyz", frames(6));
  file("test.xyz", frames(3, 100));
  file("notes.txt", "nothing");
  MoleculesDataOptions o;
  o.path = folder;
  const Splits splits = open_set(o);
  EXPECT_EQ(splits.train->size(), 6);
  EXPECT_EQ(splits.valid, nullptr);
  EXPECT_EQ(energies(*splits.test), (std::vector<double>{100, 101, 102}));
  o.train = 4;
  EXPECT_EQ(energies(*open_set(o).train), (std::vector<double>{0, 1, 2, 3}));
  o.train = 7;
  EXPECT_THROW(open_set(o), DataError);
  o = {};
  o.path = folder + "/nowhere";
  EXPECT_THROW(open_set(o), DataError);
  fs::create_directories(folder + "/empty");
  o.path = folder + "/empty";
  EXPECT_THROW(open_set(o), DataError);
}

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules";

/// Files that are splits already are not divided, so no order of dividing them has an effect.
TEST_F(Molecules, OfFilesHaveNoOrderToBeSplitIn) {
  file("train.extxyz", frames(6));
  file("test.xyz", frames(3, 100));
  MoleculesDataOptions o;
  o.path = folder;
  for (const SplitOrder order : {SplitOrder::file, SplitOrder::numpy}) {
    o.order = order;
    EXPECT_EQ(message_of<ConfigError>([&] { open_set(o); }),
              "data.molecules.order: has no effect, " + folder +
                  " has a file for each split; leave the option out");
    // Who asks for another set of the kind as a whole asks for no order of it.
    const DataOptions whole = all_of(DataOptions{o}, folder);
    EXPECT_EQ(std::get<MoleculesDataOptions>(whole.set).order, SplitOrder::weyl);
    EXPECT_EQ(open_splits(whole).test->size(), 3);
  }
  EXPECT_EQ(open_set(MoleculesDataOptions{.path = folder}).train->size(), 6);
  const DataOptions table = all_of(DataOptions{Qm9DataOptions{.order = SplitOrder::numpy}}, "elsewhere");
  EXPECT_EQ(std::get<Qm9DataOptions>(table.set).order, SplitOrder::weyl);
}

TEST(Md17, IsReadInElectronvolts) {
  for (const char* name : {"/npz/md17.npz", "/npz/rmd17.npz"}) {
    Md17DataOptions o;
    o.path = fixtures + name;
    const auto reader = open_frames(o.path);
    std::vector<AtomsFrame> frames;
    for (AtomsFrame f; reader->next(f);) {
      frames.push_back(f);
    }
    o.train = 1;
    o.valid = 0;
    const Splits splits = open_set(o);
    ASSERT_EQ(splits.train->size(), 1);
    EXPECT_EQ(splits.valid, nullptr);
    EXPECT_EQ(splits.test->size(), static_cast<int64_t>(frames.size()) - 1);
    const auto whole = open_frames_file(o.path, layout_of({o}), FrameCollector::Labels::needed);
    const Batch batch = all_of(*whole);
    const double kcal = 4184 / 96485.33212331;
    const double energy = reals_of(frames[0].value("energy")->values)->front();
    const double force = (*reals_of(frames[0].column("forces")->values))[1];
    EXPECT_NEAR(batch.labels.at("energy")[0].item<double>(), energy * kcal, 1e-9 * std::abs(energy));
    EXPECT_NEAR(batch.labels.at("forces")[0][0][1].item<double>(), force * kcal, 1e-9);
    EXPECT_EQ(points_of(batch).types[0].item<int64_t>(), frames[0].numbers[0]);
  }
  Md17DataOptions many;
  many.path = fixtures + "/npz/md17.npz";
  EXPECT_THROW(open_set(many), DataError);  // 950 frames of a few
}

TEST(Qm9, HasItsFifteenPropertiesInUsualUnits) {
  Qm9DataOptions o;
  o.path = fixtures + "/qm9";
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.test, nullptr);
  const Batch batch = all_of(*splits.train);
  const double hartree = 27.211386245981;
  EXPECT_NEAR(batch.labels.at("U0")[0].item<double>(), -40.47893 * hartree, 1e-7);
  EXPECT_NEAR(batch.labels.at("gap")[1].item<double>(), 0.3796 * hartree, 1e-9);
  EXPECT_NEAR(batch.labels.at("mu")[1].item<double>(), 2.8937, 1e-12);
  EXPECT_NEAR(batch.labels.at("alpha")[0].item<double>(), 13.21, 1e-12);
  EXPECT_NEAR(batch.labels.at("Cv")[0].item<double>(), 6.469, 1e-12);
  EXPECT_EQ(splits.train->schema().labels.size(), 15u);
  EXPECT_EQ(splits.train->schema().interface.typical_nodes, 4);
  Qm9DataOptions tar = o;
  tar.path = fixtures + "/qm9.tar.gz";
  EXPECT_TRUE(at::equal(all_of(*open_set(tar).train).labels.at("H"), batch.labels.at("H")));
}

/// gdb9.sdf, its table and the list of what is left out, as they are in one folder.
TEST(Qm9, IsReadFromASdfFileAndItsTable) {
  Qm9DataOptions o;
  o.path = fixtures + "/gdb9";
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 4);  // without gdb_14
  const Batch batch = all_of(*splits.train);
  EXPECT_EQ(batch.labels.size(), 19u);  // the table has energies of atomisation too
  EXPECT_NEAR(batch.labels.at("U0_atom")[1].item<double>(), (-1 - 16.0 / 32) * 4184 / 96485.33212331, 1e-9);
  const Quantity* atomisation = find_quantity(splits.train->schema().labels, "G_atom");
  ASSERT_NE(atomisation, nullptr);
  EXPECT_TRUE(atomisation->extensive);
  EXPECT_EQ(atomisation->unit, "eV");
  EXPECT_NEAR(batch.labels.at("U0")[1].item<double>(), (-1 - 11.0 / 32) * 27.211386245981, 1e-9);
  EXPECT_NEAR(batch.labels.at("mu")[2].item<double>(), -3 - 4.0 / 32, 1e-12);
}

/// The inputs of the public code take the place of the elements.
TEST_F(Molecules, OfQm9HaveTheInputsOfPublicCode) {
  Qm9DataOptions o;
  o.path = fixtures + "/gdb9";
  o.inputs = AtomInputs::pyg;
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  const Splits splits = open_set(o);
  const Interface& interface = splits.train->schema().interface;
  const Quantity atom{.name = "atom", .level = Level::node, .channels = 97};
  EXPECT_EQ(interface.features, std::vector{atom});
  EXPECT_EQ(interface.types, 0);
  EXPECT_TRUE(interface.elements.empty());
  EXPECT_EQ(declared_schema({o}).interface.features, std::vector{atom});
  const Batch batch = splits.train->batch(std::vector<int64_t>{1, 0});
  const Points& p = points_of(batch);
  EXPECT_FALSE(p.types.defined());
  ASSERT_EQ(p.scalars.sizes(), (std::vector<int64_t>{9, 97}));  // ammonia, then methane
  EXPECT_EQ(p.scalars[0][15].item<double>(), 1);
  EXPECT_EQ(p.scalars[0][96].item<double>(), 3);
  EXPECT_EQ(p.scalars[4][14].item<double>(), 1);
  EXPECT_EQ(p.scalars[4][96].item<double>(), 4);
  EXPECT_TRUE(at::equal(p.scalars.narrow(1, 0, 92).sum(1), at::full({9}, 9, at::kDouble)));
  // What a model knows of its inputs is enough to read others for it; streamed they are the same.
  for (const Keep keep : {Keep::in_memory, Keep::on_disk}) {
    const auto told = open_frames_file(fixtures + "/gdb9/gdb9.sdf", as_told(layout_of(AskedSet()), interface),
                                       FrameCollector::Labels::none, keep);
    EXPECT_TRUE(at::equal(points_of(told->batch(std::vector<int64_t>{1, 0})).scalars, p.scalars));
  }
  o.path = fixtures + "/qm9";  // .xyz
  try {
    open_set(o);
    ADD_FAILURE() << "without bonds";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("must have bonds for the inputs \"pyg\""), std::string::npos)
        << error.what();
  }
  o.elements = {"H"};
  EXPECT_THROW(require_effects({o}), ConfigError);
}

TEST_F(Molecules, OfQm9AreDrawnAsByNumpy) {
  std::string molecules;
  for (int i = 0; i < 10; ++i) {  // of i + 1 atoms
    molecules += text(i + 1, "\ngdb ", i + 1);
    for (int property = 0; property < 15; ++property) {
      molecules += " 0.5";
    }
    molecules += "\n";
    for (int atom = 0; atom <= i; ++atom) {
      molecules += text("C ", 2 * atom, " 0 0 0\n");
    }
    molecules += "100\nC C\nI I\n";
  }
  Qm9DataOptions o{.path = file("all.xyz", molecules), .order = SplitOrder::numpy, .train = 5, .valid = 3};
  o.seed = 42;
  const Splits splits = open_set(o);
  const auto sizes = [](const Dataset& data) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < data.size(); ++i) {
      all.push_back(data.tokens(i));
    }
    return all;
  };
  // RandomState(42).permutation(10) is 8 1 5 0 7 | 2 9 4 | 3 6
  EXPECT_EQ(sizes(*splits.train), (std::vector<int64_t>{1, 2, 6, 8, 9}));
  EXPECT_EQ(sizes(*splits.valid), (std::vector<int64_t>{3, 5, 10}));
  EXPECT_EQ(sizes(*splits.test), (std::vector<int64_t>{4, 7}));
  o.seed = int64_t{1} << 32;
  EXPECT_THROW(require_effects({o}), ConfigError);
  o.order = SplitOrder::weyl;
  EXPECT_NO_THROW(require_effects({o}));
}

TEST_F(Molecules, OfQm9LeaveOutWhatIsListed) {
  Qm9DataOptions o;
  o.path = fixtures + "/qm9";
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  o.exclude = file("uncharacterized.txt", "some words\n1 compound\n    5  C#N  0.1 0.2\n1abc d e\n");
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 1);
  EXPECT_EQ(splits.train->tokens(0), 5);  // CH4, number 1, stays
  o.exclude = file("none.txt", "nothing here\n");
  EXPECT_THROW(open_set(o), DataError);
}

TEST(DeclaredSchema, OfMoleculesNeedsNoFiles) {
  for (const DataOptions& o :
       {DataOptions{MoleculesDataOptions{}}, DataOptions{Md17DataOptions{}}, DataOptions{Qm9DataOptions{}}}) {
    const Schema schema = declared_schema(o);
    EXPECT_EQ(schema.interface.types, 100);
    EXPECT_EQ(schema.interface.elements.size(), 100u);
    EXPECT_FALSE(schema.labels.empty());
  }
  const auto labels = declared_schema({Qm9DataOptions{}}).labels;
  EXPECT_EQ(labels.size(), 19u);
  EXPECT_EQ(labels[10].name, "U0");
  EXPECT_TRUE(labels[10].extensive);
  EXPECT_FALSE(labels[7].extensive);  // gap
}

TEST(MoleculesOfDeepmd, TypesWithoutNamesAreTheElementsInTheirOrder) {
  MoleculesDataOptions o{.path = WEYL_SOURCE_DIR "/tests/fixtures/reports/14_D4_no_type_map",
                         .elements = {"H", "O"}};
  for (const Keep keep : {Keep::in_memory, Keep::on_disk}) {
    const Splits splits = open_set(o, keep);
    const Batch batch = splits.train->batch(std::vector<int64_t>{1, 0});
    EXPECT_TRUE(at::equal(points_of(batch).types, at::tensor({1, 0, 0, 1, 0, 0}, at::kLong)));
  }
}

}  // namespace molecules_test
}  // namespace weyl
