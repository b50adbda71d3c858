#include "weyl/data/sets/molecules.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/data/inspect.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

class Molecules : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "weyl-molecules-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder + "/" + name) << contents;
    return folder + "/" + name;
  }

  /// What the whole of one file becomes.
  static std::shared_ptr<const Dataset> whole(const std::string& path, MoleculesDataOptions o = {}) {
    return open_frames_file(path, layout_of({o}), FrameCollector::Labels::needed);
  }

  template <class E = DataError>
  static std::string refusal(const std::string& path, const MoleculesDataOptions& o = {}) {
    try {
      whole(path, o);
    } catch (const E& e) {
      return e.what();
    }
    return "(accepted)";
  }

  std::string folder;
};

Batch all_of(const Dataset& data) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), 0);
  return data.batch(every);
}

const Points& points_of(const Batch& batch) {
  return std::get<Points>(batch.input);
}

bool has_label(const Dataset& data, const std::string& name) {
  const auto& labels = data.schema().labels;
  return std::any_of(labels.begin(), labels.end(), [&](const Quantity& q) { return q.name == name; });
}

std::string frame(const std::string& keys, const std::string& species = "O",
                  const std::string& force = "1 2 3") {
  return "1\nProperties=species:S:1:pos:R:3:forces:R:3 " + keys + "\n" + species + " 0.5 1 1.5 " + force +
         "\n";
}

TEST_F(Molecules, BecomePointsWithLabels) {
  const auto path = file("a.xyz",
                         "2\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-10.5\n"
                         "O 0 0 0.1 0 0 -0.2\nH 0 0 1.1 0 0 0.2\n" +
                             frame("energy=-3"));
  const auto data = whole(path);
  ASSERT_EQ(data->size(), 2);
  const Batch batch = all_of(*data);
  const Points& p = points_of(batch);
  EXPECT_EQ(p.positions.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(p.types, at::tensor(std::vector<int64_t>{8, 1, 8}, at::kLong)));
  EXPECT_EQ(data->schema().interface.types, 100);
  EXPECT_EQ(data->schema().interface.elements.at(8), "O");
  EXPECT_EQ(data->schema().length_unit, "\u00c5");
  EXPECT_EQ(data->schema().interface.typical_nodes, 1.5);
  EXPECT_FALSE(p.cell.defined());
  EXPECT_TRUE(at::equal(batch.labels.at("energy"), at::tensor({-10.5, -3.0}, at::kDouble).view({2, 1})));
  EXPECT_EQ(batch.labels.at("forces").sizes(), (std::vector<int64_t>{3, 1, 3}));
  EXPECT_EQ(batch.labels.at("forces")[2][0][1].item<double>(), 2);
  EXPECT_FALSE(has_label(*data, "stress"));
  EXPECT_EQ(data->schema().labels[0].unit, "eV");
  EXPECT_TRUE(data->schema().labels[0].extensive);
  EXPECT_EQ(data->schema().labels[1].unit, "eV/\u00c5");
}

TEST_F(Molecules, AreConvertedFromTheUnitsOfTheFile) {
  const auto path =
      file("a.xyz", frame("energy=2 stress=\"1 0 0 0 1 0 0 0 1\" Lattice=\"4 0 0 0 4 0 0 0 4\""));
  MoleculesDataOptions o;
  o.energy_unit = "kcal/mol";
  o.length_unit = "Bohr";
  const Batch batch = all_of(*whole(path, o));
  const double kcal = 4184 / 96485.33212331, bohr = 0.529177210544;
  EXPECT_NEAR(batch.labels.at("energy").item<double>(), 2 * kcal, 1e-9);
  EXPECT_NEAR(batch.labels.at("forces")[0][0][2].item<double>(), 3 * kcal / bohr, 1e-8);
  EXPECT_NEAR(batch.labels.at("stress")[0][0][1][1].item<double>(), kcal / std::pow(bohr, 3), 1e-8);
  EXPECT_NEAR(points_of(batch).positions[0][2].item<double>(), 1.5 * bohr, 1e-9);
  EXPECT_NEAR(points_of(batch).cell[0][1][1].item<double>(), 4 * bohr, 1e-9);
  o.energy_unit = "Angstrom";
  EXPECT_NE(refusal<ConfigError>(path, o).find("measure different things"), std::string::npos);
}

TEST_F(Molecules, TakeTheTypesThatAreAskedFor) {
  const auto path = file("a.xyz", frame("energy=1", "O") + frame("energy=2", "H"));
  MoleculesDataOptions o;
  o.elements = {"H", "C", "O"};
  const auto data = whole(path, o);
  EXPECT_TRUE(at::equal(points_of(all_of(*data)).types, at::tensor(std::vector<int64_t>{2, 0}, at::kLong)));
  EXPECT_EQ(data->schema().interface.types, 3);
  o.elements = {"H", "C"};
  EXPECT_NE(refusal(path, o).find("a.xyz: frame 1"), std::string::npos) << refusal(path, o);
  EXPECT_NE(refusal(path, o).find("atom 1 must be one of H C (elements), got O"), std::string::npos);
  o.elements = {"H", "Hh"};
  EXPECT_NE(refusal<ConfigError>(path, o).find("data.molecules.elements: unknown element"),
            std::string::npos);
  o.elements = {"H", "H"};
  EXPECT_NE(refusal<ConfigError>(path, o).find("given twice"), std::string::npos);
}

TEST_F(Molecules, OfPeriodicFramesHaveCells) {
  const auto path = file("a.xyz", frame("energy=1 Lattice=\"4 0 0 1 5 0 0 0 6\"") + frame("energy=2"));
  const Batch batch = all_of(*whole(path));
  const Points& p = points_of(batch);
  ASSERT_TRUE(p.cell.defined());
  EXPECT_EQ(p.cell[0][1][0].item<double>(), 1);
  EXPECT_TRUE(p.pbc[0].all().item<bool>());
  EXPECT_FALSE(p.pbc[1].any().item<bool>());
  // A box that does not repeat is no cell.
  const auto box = file("b.xyz", frame("energy=1 Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"F F F\""));
  EXPECT_FALSE(points_of(all_of(*whole(box))).cell.defined());
}

TEST_F(Molecules, ReadStressAsMatrixOrVoigtOrVirial) {
  const std::string cell = " Lattice=\"2 0 0 0 2 0 0 0 2\" ";
  const auto path =
      file("a.xyz", frame("stress=\"1 2 3 4 5 6\"" + cell) + frame("stress=\"1 6 5 6 2 4 5 4 3\"" + cell));
  const Batch batch = all_of(*whole(path));
  EXPECT_TRUE(at::equal(batch.labels.at("stress")[0], batch.labels.at("stress")[1]));
  EXPECT_EQ(batch.labels.at("stress")[0][0][1][2].item<double>(), 4);  // yz
  const auto virial = file("b.xyz", frame("virial=\"8 0 0 0 8 0 0 0 8\"" + cell));
  EXPECT_NEAR(all_of(*whole(virial)).labels.at("stress")[0][0][0][0].item<double>(), -1, 1e-12);
  // Without a volume there is none, and that is no fault.
  const auto some = file("c.xyz", frame("stress=\"1 2 3 4 5 6\"" + cell) + frame("stress=\"1 2 3 4 5 6\""));
  const Tensor stress = all_of(*whole(some)).labels.at("stress");
  EXPECT_TRUE(at::isnan(stress[1]).all().item<bool>());
  EXPECT_FALSE(at::isnan(stress[0]).any().item<bool>());
  const auto odd = file("d.xyz", frame("stress=\"1 2 3\"" + cell));
  EXPECT_NE(refusal(odd).find("'stress' must be 9 numbers, or 6, got 3"), std::string::npos);
}

TEST_F(Molecules, FindTheUsualKeysInTheirOrder) {
  const auto path = file(
      "a.xyz", "1\nProperties=species:S:1:pos:R:3:REF_forces:R:3 REF_energy=-1 other=5\nH 0 0 0 1 2 3\n");
  const auto data = whole(path);
  EXPECT_EQ(all_of(*data).labels.at("energy").item<double>(), -1);
  EXPECT_TRUE(has_label(*data, "forces"));
  EXPECT_EQ(data->schema().unread, std::vector<std::string>{"other"});
  const auto both = file("b.xyz", frame("REF_energy=-1 energy=-2"));
  EXPECT_EQ(all_of(*whole(both)).labels.at("energy").item<double>(), -2);
  MoleculesDataOptions o;
  o.energy = "REF_energy";
  EXPECT_EQ(all_of(*whole(both, o)).labels.at("energy").item<double>(), -1);
  o.energy = "Etot";
  EXPECT_NE(refusal(both, o).find("no frame has 'Etot'"), std::string::npos) << refusal(both, o);
}

TEST_F(Molecules, WithoutALabelAreRefusedOrMasked) {
  const auto path = file("a.xyz", frame("energy=1") + frame("no=2") + frame("energy=3"));
  const std::string message = refusal(path);
  EXPECT_NE(message.find("a.xyz: frame 2"), std::string::npos) << message;
  EXPECT_NE(message.find("has no 'energy', which 2 of 3 frames have"), std::string::npos) << message;
  MoleculesDataOptions o;
  o.missing = MissingLabels::mask;
  const Tensor energy = all_of(*whole(path, o)).labels.at("energy");
  EXPECT_TRUE(std::isnan(energy[1].item<double>()));
  EXPECT_EQ(energy[2].item<double>(), 3);
  // The first frame may be the one that lacks it.
  const auto late = file("b.xyz", frame("no=2") + frame("energy=3"));
  EXPECT_NE(refusal(late).find("b.xyz: frame 1"), std::string::npos);
  EXPECT_TRUE(std::isnan(all_of(*whole(late, o)).labels.at("energy")[0].item<double>()));
}

TEST_F(Molecules, RefuseLabelsThatAreNoNumbers) {
  EXPECT_NE(refusal(file("a.xyz", frame("energy=nan"))).find("'energy' must be finite"), std::string::npos);
  EXPECT_NE(refusal(file("b.xyz", frame("energy=1", "O", "nan 0 0"))).find("'forces' must be finite"),
            std::string::npos);
  EXPECT_NE(refusal(file("c.xyz", frame("energy=low"))).find("'energy' must be numbers"), std::string::npos);
  EXPECT_NE(refusal(file("d.xyz", frame("energy=\"1 2\""))).find("'energy' must be 1 number, got 2"),
            std::string::npos);
  const auto wide = file("e.xyz", "1\nProperties=species:S:1:pos:R:3:forces:R:2 energy=1\nH 0 0 0 1 2\n");
  EXPECT_NE(refusal(wide).find("'forces' must be 3 numbers an atom, got 2"), std::string::npos)
      << refusal(wide);
  // To be looked at, they are welcome.
  const auto found = inspect(*open_file(folder + "/a.xyz", {}, nullptr, Values::any));
  EXPECT_EQ(found.samples, 1);
  EXPECT_EQ(found.labels[0].missing, 1);
}

TEST_F(Molecules, TellFeaturesAndProperties) {
  const auto path = file("a.xyz", frame("energy=1 charge=-1 gap=0.5") + frame("energy=2 charge=0 gap=0.7"));
  MoleculesDataOptions o;
  o.features = {"charge"};
  o.properties = {{"gap", "eV", false}};
  const auto data = whole(path, o);
  const Batch batch = all_of(*data);
  EXPECT_TRUE(
      at::equal(points_of(batch).of_graphs.at("charge"), at::tensor({-1.0, 0.0}, at::kDouble).view({2, 1})));
  EXPECT_EQ(batch.labels.at("gap")[1].item<double>(), 0.7);
  EXPECT_TRUE(has_label(*data, "gap"));
  o.features = {"spin"};
  EXPECT_NE(refusal(path, o).find("must have the feature 'spin', has 'energy', 'charge', 'gap', 'forces'"),
            std::string::npos)
      << refusal(path, o);
  o.features = {};
  o.properties = {{"energy", "eV", true}};
  EXPECT_NE(refusal<ConfigError>(path, o).find("is a label already"), std::string::npos);
}

TEST_F(Molecules, KnowTheKindOfTheirFrames) {
  const auto path =
      file("a.xyz", frame("energy=1 config_type=gas") + frame("energy=2") +
                        frame("energy=2 config_type=liquid") + frame("energy=1 config_type=gas"));
  const auto data = whole(path);
  EXPECT_TRUE(at::equal(all_of(*data).labels.at("config_type").squeeze(1),
                        at::tensor(std::vector<int64_t>{0, 1, 2, 0}, at::kLong)));
  EXPECT_EQ(data->schema().category_names.at("config_type"),
            (std::vector<std::string>{"gas", "(none)", "liquid"}));
  EXPECT_FALSE(has_label(*whole(file("b.xyz", frame("energy=1"))), "config_type"));
}

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
  const Splits by_fractions = open_molecules(o);
  EXPECT_EQ(by_fractions.train->size(), 16);
  EXPECT_EQ(by_fractions.valid->size(), 2);
  EXPECT_EQ(by_fractions.test->size(), 2);
  o.train = 5;
  o.valid = 3;
  const Splits splits = open_molecules(o);
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
  EXPECT_EQ(energies(*splits.train), energies(*open_molecules(o).train));
  o.seed = 1;
  EXPECT_NE(energies(*splits.train), energies(*open_molecules(o).train));
  o.train = 18;
  EXPECT_THROW(open_molecules(o), DataError);
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
  const Splits splits = open_molecules(o);
  EXPECT_EQ(splits.train->size(), 6);
  EXPECT_EQ(splits.valid, nullptr);
  EXPECT_EQ(energies(*splits.test), (std::vector<double>{100, 101, 102}));
  o.train = 4;
  EXPECT_EQ(energies(*open_molecules(o).train), (std::vector<double>{0, 1, 2, 3}));
  o.train = 7;
  EXPECT_THROW(open_molecules(o), DataError);
  o = {};
  o.path = folder + "/nowhere";
  EXPECT_THROW(open_molecules(o), DataError);
  fs::create_directories(folder + "/empty");
  o.path = folder + "/empty";
  EXPECT_THROW(open_molecules(o), DataError);
}

TEST_F(Molecules, AreReadAsAModelKnowsThem) {
  const auto path = file("a.xyz", frame("energy=nan charge=1", "H"));
  Interface model;
  model.types = 2;
  model.elements = {"O", "H"};
  model.features = {{.name = "charge", .level = Level::graph}};
  const auto data = open_file(path, DataOptions{NbodyDataOptions{}}, &model);  // labels do not matter
  EXPECT_TRUE(data->schema().labels.empty());
  EXPECT_EQ(points_of(all_of(*data)).types.item<int64_t>(), 1);
  EXPECT_EQ(points_of(all_of(*data)).of_graphs.at("charge").item<double>(), 1);
}

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules";

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
    const Splits splits = open_md17(o);
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
  EXPECT_THROW(open_md17(many), DataError);  // 950 frames of a few
}

TEST(Qm9, HasItsFifteenPropertiesInUsualUnits) {
  Qm9DataOptions o;
  o.path = fixtures + "/qm9";
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  const Splits splits = open_qm9(o);
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
  EXPECT_TRUE(at::equal(all_of(*open_qm9(tar).train).labels.at("H"), batch.labels.at("H")));
}

TEST_F(Molecules, OfQm9LeaveOutWhatIsListed) {
  Qm9DataOptions o;
  o.path = fixtures + "/qm9";
  o.train = o.valid = 0;
  o.fractions = {1, 0, 0};
  o.exclude = file("uncharacterized.txt", "some words\n1 compound\n    5  C#N  0.1 0.2\n1abc d e\n");
  const Splits splits = open_qm9(o);
  ASSERT_EQ(splits.train->size(), 1);
  EXPECT_EQ(splits.train->tokens(0), 5);  // CH4, number 1, stays
  o.exclude = file("none.txt", "nothing here\n");
  EXPECT_THROW(open_qm9(o), DataError);
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
  EXPECT_EQ(labels.size(), 15u);
  EXPECT_EQ(labels[10].name, "U0");
  EXPECT_TRUE(labels[10].extensive);
  EXPECT_FALSE(labels[7].extensive);  // gap
}

}  // namespace
}  // namespace weyl
