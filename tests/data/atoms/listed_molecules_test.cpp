// The sets molecule3d and pcqm4mv2: molecules on disk in splits that are lists.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/data/folder.h"
#include "tests/data/molecules.h"
#include "tests/peak_memory.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/input_file.h"
#include "weyl/data/open.h"

namespace weyl {
namespace listed_molecules_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

std::vector<double> values_of(const Dataset& data, const char* label) {
  std::vector<int64_t> all(static_cast<size_t>(data.size()));
  std::iota(all.begin(), all.end(), 0);
  const Tensor values = data.batch(all).labels.at(label);
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

TEST(ListedMolecules, OfMolecule3d) {
  Molecule3dDataOptions o{.path = fixtures + "molecule3d"};
  const Splits splits = open_splits({o});
  EXPECT_EQ(values_of(*splits.train, "homolumogap"), (std::vector{-6 / 32., -2 - 6 / 32., -4 - 6 / 32.}));
  EXPECT_EQ(values_of(*splits.valid, "homo"), std::vector{-1 - 4 / 32.});
  EXPECT_EQ(values_of(*splits.valid, "dipole"), (std::vector{-1 - 1 / 32., -1 - 2 / 32., -1 - 3 / 32.}));
  const Quantity* dipole = find_quantity(splits.train->schema().labels, "dipole");
  ASSERT_NE(dipole, nullptr);
  EXPECT_EQ(dipole->kind, Kind::vector);  // it turns with the molecule
  EXPECT_EQ(dipole->level, Level::graph);
  EXPECT_EQ(splits.test->size(), 1);
  EXPECT_EQ(splits.train->tokens(0), 5);
  EXPECT_DOUBLE_EQ(splits.valid->schema().interface.typical_nodes,
                   splits.train->schema().interface.typical_nodes);
  EXPECT_EQ(splits.train->schema().labels, declared_schema({o}).labels);
  o.split = Molecule3dSplit::scaffold;
  o.train = 2;
  EXPECT_EQ(values_of(*open_splits({o}).train, "homolumogap"), (std::vector{-6 / 32., -1 - 6 / 32.}));
}

TEST(ListedMolecules, OfPcqm4mv2) {
  const Pcqm4mv2DataOptions o{.path = fixtures + "pcqm4mv2", .conformers = 3};
  const Splits splits = open_splits({o});
  EXPECT_EQ(values_of(*splits.train, "gap"), (std::vector{5., 5 - 1 / 32., 5 - 2 / 32.}));
  EXPECT_TRUE(has_label(*splits.train, "relaxed"));
  EXPECT_FALSE(has_label(*splits.valid, "relaxed"));
  EXPECT_TRUE(has_label(*splits.valid, "gap"));
  EXPECT_FALSE(has_label(*splits.test, "gap"));  // it is not published
  const Batch given = splits.train->batch(std::vector<int64_t>{1, 0});
  const Tensor conformers = given.labels.at("conformers");
  EXPECT_EQ(conformers.sizes(), (std::vector<int64_t>{9, 3, 3}));
  EXPECT_EQ(given.labels.at("relaxed").sizes(), (std::vector<int64_t>{9, 1, 3}));
  EXPECT_TRUE(at::equal(points_of(given).positions, conformers.select(1, 0)));
  EXPECT_EQ(splits.valid->batch(std::vector<int64_t>{0}).labels.count("relaxed"), 0);
}

/// In training each molecule is at one of its conformers as a whole, another in other epochs, whatever the batch.
TEST(ListedMolecules, ConformersAreDrawnForEachEpoch) {
  const Splits splits = open_splits({Pcqm4mv2DataOptions{.path = fixtures + "pcqm4mv2", .conformers = 3}});
  const auto seen = [&](int64_t sample, int64_t epoch, std::vector<int64_t> batch) {
    const Batch drawn = splits.train->augmented(batch, batch, {7, epoch});
    const auto place = std::ranges::find(batch, sample) - batch.begin();
    const int64_t begin = points_of(drawn).graphs.offsets[static_cast<size_t>(place)],
                  end = points_of(drawn).graphs.offsets[static_cast<size_t>(place) + 1];
    const Tensor at = points_of(drawn).positions.slice(0, begin, end);
    for (int64_t c = 0; c < 3; ++c) {
      if (at::equal(at, drawn.labels.at("conformers").select(1, c).slice(0, begin, end))) {
        return c;
      }
    }
    return int64_t{-1};
  };
  std::set<int64_t> all;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const int64_t drawn = seen(1, epoch, {0, 1});
    EXPECT_EQ(drawn, seen(1, epoch, {1}));
    all.insert(drawn);
  }
  EXPECT_EQ(all, (std::set<int64_t>{0, 1, 2}));
}

/// Three conformers stand in five places: each is drawn as often as the others.
TEST(ListedMolecules, ConformersAreDrawnAlike) {
  const Splits splits = open_splits({Pcqm4mv2DataOptions{.path = fixtures + "pcqm4mv2", .conformers = 5}});
  const std::vector<int64_t> second{1};
  std::vector<int> drawn(3, 0);
  for (int64_t epoch = 0; epoch < 600; ++epoch) {
    const Batch batch = splits.train->augmented(second, second, {7, epoch});
    for (int64_t c = 0; c < 3; ++c) {
      drawn[static_cast<size_t>(c)] +=
          at::equal(points_of(batch).positions, batch.labels.at("conformers").select(1, c)) ? 1 : 0;
    }
  }
  for (const int count : drawn) {
    EXPECT_NEAR(count, 200, 30);  // of shares of 2/5 and 1/5 they would be 240 and 120
  }
}

/// A copy of the files of PCQM4Mv2 with other lists of samples.
void copy_with_lists(const Folder& folder, const std::string& lists) {
  for (const auto& entry : std::filesystem::directory_iterator(fixtures + "pcqm4mv2")) {
    if (!entry.path().filename().string().starts_with("split_dict")) {
      std::filesystem::copy(entry.path(), folder / entry.path().filename().string());
    }
  }
  std::ofstream(folder / "split_dict.json") << lists;
}

TEST(ListedMolecules, ASplitWithoutConformersIsLeftOutWithAWarning) {
  const Folder folder;
  copy_with_lists(folder, R"({"train": [0, 1, 2], "valid": [3], "test-dev": [4]})");
  std::string sdf = contents_of(folder / "conformers.sdf");
  sdf.resize(sdf.rfind("$$$$", sdf.size() - 3 * 5));
  const std::string four = sdf.substr(0, sdf.find(">  <idx>  (11)"));
  std::ofstream(folder / "conformers.sdf") << four.substr(0, four.rfind("$$$$") + 5);
  Pcqm4mv2DataOptions o{.path = folder.path(), .conformers = 3};
  const Splits splits = open_splits({o});
  EXPECT_EQ(splits.test, nullptr);
  ASSERT_TRUE(splits.train && splits.valid);
  ASSERT_FALSE(splits.train->schema().warnings.empty());
  EXPECT_EQ(
      splits.train->schema().warnings.back(),
      folder.path() +
          ": the split test-dev is left out, because there are no conformers of it: they end with molecule 3");
  o.test = 1;  // asked for
  EXPECT_NE(
      message_of<DataError>([&] { open_splits({o}); }).find("the conformers of test-dev must all be there"),
      std::string::npos);
}

TEST(ListedMolecules, AMixtureWithoutGeometriesIsWarnedOf) {
  const Folder folder;
  copy_with_lists(folder, R"({"train": [0, 1, 2], "valid": [3], "test-dev": [4]})");
  const auto warned = [&](ConformerMixture mixture) {
    const Splits splits =
        open_splits({Pcqm4mv2DataOptions{.path = folder.path(), .conformers = 3, .mixture = mixture}});
    return std::ranges::any_of(splits.train->schema().warnings, [](const std::string& line) {
      return line.find("data.pcqm4mv2.mixture has no effect") != std::string::npos;
    });
  };
  EXPECT_FALSE(warned({.relaxed = 0.5}));
  std::filesystem::remove(folder / "pcqm4m-v2-train.sdf");
  EXPECT_TRUE(warned({.relaxed = 0.5}));
  EXPECT_TRUE(warned({.middle = 0.5}));
  EXPECT_FALSE(warned({}));
}

TEST(ListedMolecules, SplitsHaveTheirNames) {
  for (const char* name : {"training", "test", "val"}) {
    const Folder folder;
    copy_with_lists(folder, text("{\"train\": [0, 1, 2], \"", name, "\": [3]}"));
    const std::string said =
        message_of<DataError>([&] { open_splits({Pcqm4mv2DataOptions{.path = folder.path()}}); });
    EXPECT_NE(said.find("a split must be one of train, valid, test-dev, test-challenge, got '"),
              std::string::npos)
        << said;
  }
}

/// The root mean square distance of the input to the label `relaxed`, which lies on it, of one molecule.
double distance_to_relaxed(const Batch& batch) {
  return (points_of(batch).positions.unsqueeze(1) - batch.labels.at("relaxed"))
      .square()
      .sum(2)
      .mean()
      .sqrt()
      .item<double>();
}

TEST(ListedMolecules, TrainingStandsWhereTheMixtureSays) {
  const auto distances = [](ConformerMixture mixture) {
    const Splits splits = open_splits(
        {Pcqm4mv2DataOptions{.path = fixtures + "pcqm4mv2", .conformers = 3, .mixture = mixture}});
    const std::vector<int64_t> second{1};
    std::vector<double> found;
    for (int64_t epoch = 0; epoch < 40; ++epoch) {
      found.push_back(distance_to_relaxed(splits.train->augmented(second, second, {3, epoch})));
    }
    std::ranges::sort(found);
    return found;
  };
  const auto plain = distances({}), relaxed = distances({.relaxed = 1, .noise = 0}),
             noisy = distances({.relaxed = 1, .noise = 0.2}), middle = distances({.middle = 1, .noise = 0}),
             all = distances({.relaxed = 0.5, .middle = 0.25, .noise = 0});
  EXPECT_LT(relaxed.back(), 1e-6);
  EXPECT_NEAR(noisy[20], 0.3, 0.1);  // three coordinates, less what the alignment takes
  EXPECT_GT(plain.back(), 5e-3);
  EXPECT_LT(middle.back(), 0.61 * plain.back());
  EXPECT_GT(middle.back(), 0.39 * plain.front());
  EXPECT_LT(all[9], 1e-6);
  EXPECT_GT(all[36], 0.39 * plain.front());
}

/// The label lies on the input however that was drawn, as a molecule and not as its mirror image.
TEST(ListedMolecules, RelaxedPlacesAreOnTheInput) {
  const Splits splits = open_splits({Pcqm4mv2DataOptions{.path = fixtures + "pcqm4mv2", .conformers = 3}});
  const std::vector<int64_t> all{0, 1, 2};
  const Batch batch = splits.train->batch(all);
  const Tensor places = points_of(batch).positions, relaxed = batch.labels.at("relaxed").squeeze(1);
  for (size_t b = 0; b < 3; ++b) {
    const int64_t begin = points_of(batch).graphs.offsets[b], end = points_of(batch).graphs.offsets[b + 1];
    EXPECT_TRUE(
        at::allclose(places.slice(0, begin, end).mean(0), relaxed.slice(0, begin, end).mean(0), 0, 1e-9));
  }
  EXPECT_LT(distance_to_relaxed(batch), 0.2);
}

TEST(ListedMolecules, TellOfTheGraphWhereAsked) {
  const Pcqm4mv2DataOptions o{.path = fixtures + "pcqm4mv2", .conformers = 2, .graph = true};
  const Splits splits = open_splits({o});
  const Batch batch = splits.train->batch(std::vector<int64_t>{2, 1});  // C#N, then pyridone
  const Points& points = points_of(batch);
  EXPECT_EQ(points.scalars.sizes(), (std::vector<int64_t>{9, 7}));
  EXPECT_EQ(points.pairs.sizes(), (std::vector<int64_t>{4 + 49, 13}));
  EXPECT_EQ(points.pairs[1][2].item<double>(), 1);  // triple
  const Interface& interface = splits.train->schema().interface;
  EXPECT_EQ(interface.features.size(), 3);
  // A model of these features is given them of any file with bonds.
  const auto told = open_file(fixtures + "v2000.sdf", {o}, &interface);
  EXPECT_EQ(points_of(told->batch(std::vector<int64_t>{0})).pairs.size(1), 13);
  // Ions of a salt have no bonds, which an SDF file says and a list of places does not.
  const Folder folder;
  std::ofstream(folder / "salt.sdf") << "\n\n\n  2  0  0  0  0  0            999 V2000\n"
                                        "    0.0000    0.0000    0.0000 O   0  5\n"
                                        "    3.0000    0.0000    0.0000 N   0  3\nM  END\n";
  std::ofstream(folder / "salt.xyz") << "2\n\nO 0 0 0\nN 3 0 0\n";
  EXPECT_EQ(open_file(folder / "salt.sdf", {o}, &interface)->size(), 1);
  EXPECT_NE(
      message_of<DataError>([&] { open_file(folder / "salt.xyz", {o}, &interface); }).find("must have bonds"),
      std::string::npos);
}

/// Another folder of such files is a set too, not the frames in it.
TEST(ListedMolecules, FoldersAreOpenedAsTheSet) {
  EXPECT_EQ(open_file(fixtures + "pcqm4mv2", {Pcqm4mv2DataOptions{}})->size(), 1);
  EXPECT_TRUE(has_label(*open_file(fixtures + "molecule3d", {Molecule3dDataOptions{}}), "homolumogap"));
}

/// The same molecules again and again, as files of any size.
void write_molecules(const Folder& folder, int64_t times) {
  std::ofstream sdf(folder / text("combined_mols_0_to_", 5 * times, ".sdf")),
      table(folder / "properties.csv"), list(folder / "random_split_inds.json");
  const std::string molecules = contents_of(fixtures + "molecule3d/combined_mols_0_to_3.sdf") +
                                contents_of(fixtures + "molecule3d/combined_mols_3_to_5.sdf");
  table << "index,homolumogap\n";
  list << "{\"train\": [0";
  for (int64_t i = 0; i < times; ++i) {
    sdf << molecules;
    for (int64_t row = 5 * i; row < 5 * i + 5; ++row) {
      table << row << ',' << row << '\n';
      list << (row > 0 ? text(", ", row) : "");
    }
  }
  list << "]}";
}

/// A shuffled epoch reads each molecule by itself, and holds an index of it, not the file.
TEST(ListedMolecules, ShuffledEpochsHoldAnIndexAlone) {
  const auto epoch = [](int64_t times) {
    const Folder folder;
    write_molecules(folder, times);
    return memory_of([&] {
      const Splits splits = open_splits({Molecule3dDataOptions{.path = folder.path()}});
      Loader loader(splits.train, {.batch = 64, .shuffle = true}, 0);
      loader.start(0);
      double sum = 0;
      while (const auto batch = loader.next()) {
        sum += batch->labels.at("homolumogap").sum().item<double>();
      }
      const auto n = static_cast<double>(5 * times);
      EXPECT_EQ(sum, n * (n - 1) / 2);
    });
  };
  epoch(100);  // what is made once
  const int64_t small = epoch(400), large = epoch(4000);
  const int64_t more = 5 * 3600;  // molecules, 14 MB of files
  EXPECT_LT(large - small, 140 * more) << small << " " << large;
}

}  // namespace listed_molecules_test
}  // namespace weyl
