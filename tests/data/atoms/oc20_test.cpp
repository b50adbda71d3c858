// Slabs with an adsorbate: what frames must hold, images, noise, and the set of them.
#include "weyl/data/atoms/oc20.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/all_samples.h"
#include "tests/data/folder.h"
#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/open.h"
#include "weyl/tasks/relaxation_errors.h"

namespace weyl {
namespace oc20_test {

const std::string export_folder = WEYL_SOURCE_DIR "/tests/fixtures/molecules/oc20/";

/// A frame of extended xyz: three atoms of copper and one of oxygen, whose relaxed place is in the next cell.
std::string frame_text(const std::string& comment = "energy=-1.25",
                       const std::string& columns = "tags:I:1:fixed:L:1:relaxed:R:3",
                       const std::string& lattice = "3 0 0 1 4 0 0 0 20") {
  const char* rows[] = {"Cu 0 0 0 0 T 0 0 0", "Cu 1.5 0.5 1.8 1 F 1.5 0.5 1.9",
                        "Cu 0.5 2.5 1.8 1 F 0.5 2.5 1.75", "O 1.0 1.0 3.2 2 F 4.1 1.0 3.0"};
  std::string text =
      "4\nLattice=\"" + lattice + "\" Properties=species:S:1:pos:R:3:" + columns + " " + comment + "\n";
  for (const char* row : rows) {
    text += std::string(row) + "\n";
  }
  return text;
}

std::string written(const Folder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

Slab slab_in(const std::string& path) {
  const auto reader = open_frames(path);
  AtomsFrame frame;
  EXPECT_TRUE(reader->next(frame));
  return slab_of(frame, *reader);
}

Slab random_slab(uint64_t seed) {
  Stream stream(seed, "slab of a test");
  Slab slab;
  slab.cell = {Vector3{4 + stream.uniform(), 0.3, 0}, Vector3{1, 5, 0.2}, Vector3{0.5, 0, 6}};
  for (int a = 0; a < 12; ++a) {
    slab.numbers.push_back(a < 10 ? 29 : 8);
    slab.tags.push_back(a < 5 ? 0 : a < 10 ? 1 : 2);
    slab.free.push_back(a >= 5);
    slab.positions.push_back({5 * stream.uniform(), 5 * stream.uniform(), 5 * stream.uniform()});
    slab.relaxed.push_back(slab.positions.back());
    slab.relaxed.back()[2] += 0.5;
  }
  return slab;
}

TEST(Slab, IsReadFromColumns) {
  const Folder folder;
  const Slab slab = slab_in(written(folder, "a.extxyz", frame_text()));
  EXPECT_EQ(slab.numbers, (std::vector{29, 29, 29, 8}));
  EXPECT_EQ(slab.tags, (std::vector{0, 1, 1, 2}));
  EXPECT_EQ(slab.free, (std::vector{false, true, true, true}));
  EXPECT_EQ(slab.energy, -1.25);
  EXPECT_NEAR(slab.relaxed[3][0], 1.1, 1e-14);  // the nearest image
  EXPECT_EQ(slab.relaxed[1][2], 1.9);
  // Without the column, atoms below the surface are fixed; without labels none are known.
  const Slab bare = slab_in(written(folder, "b.extxyz", frame_text("", "tags:I:1:flag:L:1:other:R:3")));
  EXPECT_EQ(bare.free, slab.free);
  EXPECT_TRUE(bare.relaxed.empty());
  EXPECT_FALSE(bare.energy.has_value());
  // Units that the file says are converted.
  const Slab other =
      slab_in(written(folder, "c.extxyz", frame_text("energy=-1250 energy_unit=meV length_unit=nm")));
  EXPECT_NEAR(*other.energy, -1.25, 1e-12);
  EXPECT_NEAR(other.relaxed[1][2], 19, 1e-12);
  EXPECT_NEAR(other.cell[2][2], 200, 1e-12);
}

TEST(Slab, IsPeriodicAlongItsSurface) {
  const Folder folder;
  const std::string clamped = written(folder, "a.extxyz", frame_text("energy=-1.25 pbc=\"T F T\""));
  EXPECT_NE(
      message_of<DataError>([&] { slab_in(clamped); }).find("frame 1, line 1: a slab must be periodic along"),
      std::string::npos);
  EXPECT_EQ(slab_in(written(folder, "b.extxyz", frame_text("pbc=\"T T F\""))).size(), 4);
}

TEST(Slab, DoubtsOfItsCellAreSaidOnce) {
  const Folder folder;
  const auto doubt = [&](const std::string& lattice, const std::string& pbc = "T T T") {
    return doubt_of(slab_in(
        written(folder, "a.extxyz",
                frame_text("energy=-1 pbc=\"" + pbc + "\"", "tags:I:1:fixed:L:1:relaxed:R:3", lattice))));
  };
  EXPECT_EQ(doubt("3 0 0 1 4 0 0 0 20"), "");
  EXPECT_EQ(doubt("3 0 0 1 4 0 2 1 20"), "");  // inclined
  EXPECT_NE(doubt("3 0 0 1 4 0 0 0 4.5").find("no vacuum along the third lattice vector"), std::string::npos);
  EXPECT_EQ(doubt("3 0 0 1 4 0 0 0 4.5", "T T F"), "");  // it is not stacked
  const std::string turned = doubt("20 0 0 1 4 0 0 0 4.5");
  EXPECT_NE(turned.find("along lattice vector 1 (17.9"), std::string::npos) << turned;
  // A set says the first and counts the others; sound slabs say nothing.
  const auto warnings = [&](const std::vector<std::string>& lattices) {
    std::string text;
    for (const std::string& lattice : lattices) {
      text += frame_text("energy=-1", "tags:I:1:fixed:L:1:relaxed:R:3", lattice);
    }
    return open_slabs(written(folder, "set.extxyz", text), {})->schema().warnings;
  };
  EXPECT_TRUE(warnings({"3 0 0 1 4 0 0 0 20", "3 0 0 1 4 0 0 0 30"}).empty());
  const auto said = warnings({"3 0 0 1 4 0 0 0 20", "3 0 0 1 4 0 0 0 4.5", "20 0 0 1 4 0 0 0 4.5"});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("frame 2"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("(and 1 more)"), std::string::npos) << said[0];
}

// As VASP writes it: the lowest layer, a little below zero, at the top of the cell.
TEST(Slab, TornByItsCellIsDoubted) {
  Slab slab = random_slab(2);
  slab.cell[2] = {0, 0, 25};
  EXPECT_EQ(doubt_of(slab), "");
  Slab moved = slab, torn = slab;
  for (Vector3& x : moved.positions) {
    x[2] -= 2;  // whole, though it begins below the cell
  }
  EXPECT_EQ(doubt_of(moved), "");
  for (Vector3& x : torn.positions) {
    x[2] -= 2;
    x[2] += x[2] < 0 ? 25 : 0;
  }
  for (const bool stacked : {true, false}) {
    torn.stacked = stacked;
    const std::string said = doubt_of(torn);
    EXPECT_NE(said.find("lie in two parts with "), std::string::npos) << said;
  }
}

TEST(Slab, WithoutAnAdsorbateIsDoubted) {
  const Folder folder;
  Slab bare = random_slab(2);
  bare.cell[2] = {0, 0, 25};
  bare.tags.assign(12, 1);
  EXPECT_NE(doubt_of(bare).find("no atom has tag 2"), std::string::npos);
  // ASE's Atoms have tags 0 where nobody sets them.
  std::string untagged = frame_text();
  for (const char* row : {" 1.8 1 F", " 3.2 2 F"}) {
    for (size_t at = untagged.find(row); at != std::string::npos; at = untagged.find(row)) {
      untagged.replace(at + 5, 1, "0");
    }
  }
  const std::string said = message_of<DataError>([&] { slab_in(written(folder, "a.extxyz", untagged)); });
  EXPECT_NE(said.find("'tags' must be above 0 for some atoms"), std::string::npos) << said;
}

TEST(Slab, RefusesWhatIsNone) {
  const std::map<std::string, std::string> faults{
      {"no_tags", "column 'tags'"},
      {"another_tag", "'tags' must be 0 (below the surface), 1 (surface) or 2 (adsorbate), got 3"},
      {"tags_in_words", "'tags' must have 1 number(s) for each of the 3 atoms"},
      {"no_cell", "must have a cell"},
      {"flat_cell", "must have a volume"},
      {"relaxed_nan", "'relaxed' must be finite"},
      {"relaxed_far", "'relaxed' must be finite and within"},
      {"relaxed_of_two", "'relaxed' must have 3 number(s)"},
      {"fixed_half", "'fixed' must be 0 or 1, got 0.5"},
      {"two_energies", "'energy' must be one finite number"},
      {"energy_inf", "'energy' must be one finite number"},
      {"unlike_labels", "must have the labels of the first frame"}};
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(WEYL_SOURCE_DIR "/tests/fixtures/broken/slabs")) {
    const std::string path = entry.path().string(),
                      said = message_of<DataError>([&] { open_slabs(path, Oc20DataOptions{}); });
    EXPECT_TRUE(said.starts_with(path + ": frame ")) << said;
    EXPECT_NE(said.find(faults.at(entry.path().stem().string())), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    ++files;
  }
  EXPECT_EQ(files, faults.size());
}

// Against a list of neighbours that repeats along the first two lattice vectors and knows nothing of slabs.
TEST(SlabImages, AreThoseOfAListOfNeighbours) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Slab slab = random_slab(seed);
    const double radius = 3 + 0.2 * static_cast<double>(seed);
    std::vector<double> places;
    for (const Vector3& x : slab.positions) {
      places.insert(places.end(), x.begin(), x.end());
    }
    std::array<double, 9> cell{};
    for (size_t k = 0; k < 9; ++k) {
      cell[k] = slab.cell[k / 3][k % 3];
    }
    NeighbourList list;
    ASSERT_EQ(find_neighbours({.positions = places.data(),
                               .atoms = slab.size(),
                               .cell = cell.data(),
                               .periodic = {true, true, false},
                               .radius = radius},
                              list),
              NeighbourFault::none);
    std::set<std::array<int64_t, 3>> expected, found;
    for (size_t a = 0; a < slab.tags.size(); ++a) {
      for (int64_t e = list.offsets[a]; slab.tags[a] == 2 && e < list.offsets[a + 1]; ++e) {
        const auto j = list.neighbour[static_cast<size_t>(e)];
        const Shift3 s = list.shift[static_cast<size_t>(e)];
        if (slab.tags[static_cast<size_t>(j)] != 2 && (s[0] != 0 || s[1] != 0) && std::abs(s[0]) <= 1 &&
            std::abs(s[1]) <= 1) {
          expected.insert({j, s[0], s[1]});
        }
      }
    }
    for (const SlabImage& image : slab_images(slab, radius)) {
      // Which cell it is in, from its shift.
      const double det = slab.cell[0][0] * slab.cell[1][1] - slab.cell[0][1] * slab.cell[1][0];
      const auto i = std::lround((image.shift[0] * slab.cell[1][1] - image.shift[1] * slab.cell[1][0]) / det),
                 j = std::lround((image.shift[1] * slab.cell[0][0] - image.shift[0] * slab.cell[0][1]) / det);
      EXPECT_TRUE(found.insert({image.atom, i, j}).second);
    }
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(expected.empty());
  }
  EXPECT_TRUE(slab_images(random_slab(0), 0).empty());
}

TEST(NoisyNodes, MoveFreeAtomsTowardsTheirRelaxedPlaces) {
  const Slab slab = random_slab(1);
  Slab still = slab, between = slab;
  Stream stream(3, "noise");
  add_noise(still, {.probability = 0, .deviation = 1}, stream);
  EXPECT_EQ(still.positions, slab.positions);
  add_noise(between, {.probability = 1, .deviation = 0}, stream);
  EXPECT_EQ(between.relaxed, slab.relaxed);
  std::set<double> shares;
  for (size_t a = 0; a < slab.positions.size(); ++a) {
    const double share = (between.positions[a][2] - slab.positions[a][2]) / 0.5;
    if (!slab.free[a]) {
      EXPECT_EQ(between.positions[a], slab.positions[a]);
      continue;
    }
    EXPECT_TRUE(share > 0 && share < 1) << share;
    shares.insert(share);  // each atom's own
  }
  EXPECT_EQ(shares.size(), 7u);
  // With noise the deviation is that which is asked for.
  double squares = 0, count = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    Slab noisy = slab;
    add_noise(noisy, {.probability = 1, .deviation = 0.3}, stream);
    for (size_t a = 5; a < noisy.positions.size(); ++a, ++count) {
      squares += std::pow(noisy.positions[a][0] - slab.positions[a][0], 2);
    }
  }
  EXPECT_NEAR(std::sqrt(squares / count), 0.3, 0.02);
  Slab unknown = slab;
  unknown.relaxed.clear();
  EXPECT_THROW(add_noise(unknown, {}, stream), ShapeError);
}

TEST(Oc20, FramesBecomeTokens) {
  const Folder folder;
  written(folder, "train.extxyz", frame_text() + frame_text("energy=-2"));
  Oc20DataOptions options{.path = folder.path(), .elements = {"O", "Cu"}, .image_radius = 3};
  const Splits splits = open_splits(DataOptions{options});
  ASSERT_TRUE(splits.train && !splits.valid && !splits.test);
  const Slab slab = slab_in(folder / "train.extxyz");
  const auto images = slab_images(slab, 3);
  ASSERT_FALSE(images.empty());
  const auto n = 4 + static_cast<int64_t>(images.size());
  EXPECT_EQ(splits.train->tokens(1), n);
  EXPECT_EQ(splits.train->schema().interface.typical_nodes, static_cast<double>(n));
  EXPECT_EQ(splits.train->schema().interface.features, declared_schema(options).interface.features);
  const Batch batch = all_of(*splits.train);
  const auto& p = std::get<Points>(batch.input);
  EXPECT_FALSE(p.cell.defined());
  ASSERT_EQ(p.nodes(), 2 * n);
  EXPECT_EQ(p.types.slice(0, 0, 4).equal(at::tensor(std::vector<int64_t>{1, 1, 1, 0}, at::kLong)), true);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t atom = k < 4 ? k : images[static_cast<size_t>(k - 4)].atom;
    const bool real = k < 4;
    EXPECT_EQ(p.scalars[k].slice(0, 0, 3).argmax().item<int64_t>(), slab.tags[static_cast<size_t>(atom)]);
    EXPECT_EQ(p.scalars[k][3].item<double>(), real ? 1 : 0);
    EXPECT_EQ(p.scalars[k][4].item<double>(), real && slab.free[static_cast<size_t>(atom)] ? 1 : 0);
    // An image's relaxed place is that of its atom, moved along.
    const Tensor way = batch.labels.at("relaxed")[k][0] - p.positions[k];
    const Tensor expected = batch.labels.at("relaxed")[atom][0] - p.positions[atom];
    EXPECT_TRUE(at::allclose(way, expected, 0, 1e-12));
  }
  EXPECT_EQ(batch.labels.at("energy")[1][0].item<double>(), -2);
  EXPECT_EQ(batch.labels.at("cell")[0][1][0].item<double>(), 1);
  // Nothing of elements that are no types, and of labels that some frames lack.
  options.elements = {"O"};
  EXPECT_NE(message_of<DataError>([&] { open_set(options); }).find("Cu is none of the elements"),
            std::string::npos);
  options.elements = {};
  written(folder, "valid.extxyz", frame_text() + frame_text(""));
  const std::string said = message_of<DataError>([&] { open_set(options); });
  EXPECT_NE(said.find("frame 2"), std::string::npos) << said;
  EXPECT_NE(said.find("must have the labels of the first frame"), std::string::npos) << said;
  written(folder, "valid.extxyz", frame_text(""));
  EXPECT_EQ(find_quantity(open_set(options).valid->schema().labels, "energy"), nullptr);
  options.train = 1;
  EXPECT_EQ(open_set(options).train->size(), 1);
  options.train = 3;
  EXPECT_THROW(open_set(options), DataError);
}

TEST(Oc20, AFileThatChangesIsNoticed) {
  const Folder folder;
  const std::string path = written(folder, "a.extxyz", frame_text() + frame_text());
  const auto data = open_slabs(path, {.image_radius = 0});
  const std::vector<int64_t> second{1};
  data->batch(second);
  const auto refusal = [&](const std::string& contents) {
    std::ofstream(path, std::ios::in | std::ios::trunc) << contents;
    return message_of<DataError>([&] { data->batch(second); });
  };
  for (const std::string& changed :
       {frame_text(), frame_text() + "5" + frame_text().substr(1) + "O 0 0 9 2 F 0 0 9\n",
        frame_text() + std::string(frame_text().size(), 'x')}) {
    EXPECT_EQ(refusal(changed),
              path + ": must not change while it is read, but sample 2 is another than it was");
  }
}

TEST(Oc20, NoiseIsAFunctionOfSeedEpochAndSample) {
  const Folder folder;
  written(folder, "train.extxyz", frame_text() + frame_text());
  const Oc20DataOptions options{.path = folder.path(), .noisy_nodes = NoisyNodes{.probability = 1}};
  const auto train = open_set(options).train;
  const auto places = [&](std::vector<int64_t> samples, Draw draw) {
    const Batch batch = train->augmented(samples, samples, draw);
    // The label stays where it is, whatever the input.
    EXPECT_NEAR(batch.labels.at("relaxed")[1][0][2].item<double>(), 1.9, 1e-12);
    return std::get<Points>(batch.input).positions.slice(0, 0, 4);
  };
  const Tensor once = places({0}, {1, 2});
  EXPECT_TRUE(at::equal(once, places({0, 1}, {1, 2})));
  EXPECT_FALSE(at::equal(once, places({1}, {1, 2})));
  EXPECT_FALSE(at::equal(once, places({0}, {1, 3})));
  EXPECT_FALSE(at::equal(once, places({0}, {2, 2})));
  const std::vector<int64_t> first{0};
  EXPECT_FALSE(at::equal(once, std::get<Points>(train->batch(first).input).positions.slice(0, 0, 4)));
  // Only training structures get it.
  const auto measured = open_slabs(folder / "train.extxyz", options);
  EXPECT_TRUE(at::equal(std::get<Points>(measured->augmented(first, first, {}).input).positions,
                        std::get<Points>(measured->batch(first).input).positions));
}

// tools/oc20_export.py's file of two structures, and the one it is made from.
TEST(Oc20, ReadsTheExport) {
  const auto data = open_slabs(export_folder + "train.aselmdb", {.image_radius = 0});
  ASSERT_EQ(data->size(), 2);
  const std::vector<int64_t> turned{1, 0};
  const Batch batch = data->batch(turned);
  EXPECT_EQ(batch.labels.at("energy").flatten()[0].item<double>(), -2);
  EXPECT_EQ(batch.labels.at("energy").flatten()[1].item<double>(), -1.5);
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(p.positions[2][2].item<double>(), 3.5);
  EXPECT_EQ(p.types[5].item<int64_t>(), 8);
  const RelaxationTarget target = relaxation_target(batch, data->schema().interface);
  EXPECT_NEAR(target.displacement[2][0].item<double>(), 0, 1e-6);  // a cell away
  EXPECT_NEAR(target.displacement[2][2].item<double>(), -0.25, 1e-6);
  EXPECT_EQ(target.counted.sum().item<double>(), 4);
}

TEST(Oc20, RefusesThePublishedFilesAndNamesTheExporter) {
  const std::string said =
      message_of<DataError>([] { open_slabs(export_folder + "data.lmdb", Oc20DataOptions{}); });
  EXPECT_NE(said.find("pickled Python"), std::string::npos) << said;
  EXPECT_NE(said.find("tools/oc20_export.py"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

}  // namespace oc20_test
}  // namespace weyl
