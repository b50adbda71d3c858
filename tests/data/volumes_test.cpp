// The set `decathlon` and the maker `phantoms`.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/formats/decathlon.h"
#include "weyl/data/formats/image.h"
#include "weyl/data/formats/nifti.h"
#include "weyl/data/inspect.h"
#include "weyl/data/makers/phantoms.h"
#include "weyl/data/prediction.h"
#include "weyl/data/sets/decathlon.h"
#include "weyl/data/sets/volume_cache.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

PhantomsMakerOptions small(int64_t count = 5) {
  return {.count = count, .size = {20, 24, 18}, .spacing = {8, 7.5, 8}};
}

DecathlonDataOptions set_at(const std::string& path) {
  return {.path = path, .fractions = {0.4, 0.2, 0.4}};
}

TEST(DecathlonIndex, ReadsTheOriginalAndItself) {
  const char* original = R"({"name": "BRATS", "modality": {"0": "FLAIR", "1": "T1w"},
    "labels": {"0": "background", "1": "edema", "2": "tumor"}, "numTraining": 1,
    "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}],
    "test": ["./imagesTs/b.nii.gz"]})";
  const auto index = parse_decathlon(original, "/data", "x");
  EXPECT_EQ(index.name, "BRATS");
  EXPECT_EQ(index.modalities, (std::vector<std::string>{"FLAIR", "T1w"}));
  EXPECT_EQ(index.labels, (std::vector<std::string>{"background", "edema", "tumor"}));
  EXPECT_EQ(index.training.at(0).image, "/data/imagesTr/a.nii.gz");
  EXPECT_EQ(index.training.at(0).label, "/data/labelsTr/a.nii.gz");
  EXPECT_EQ(index.test.at(0).image, "/data/imagesTs/b.nii.gz");
  DecathlonIndex relative = index;
  relative.training = {{"imagesTr/a.nii.gz", "labelsTr/a.nii.gz"}};
  relative.test = {};
  const auto again = parse_decathlon(decathlon_json(relative), "/data", "x");
  EXPECT_EQ(again.labels, index.labels);
  EXPECT_EQ(again.training.at(0).image, "/data/imagesTr/a.nii.gz");
  // labels the other way round
  const auto turned = parse_decathlon(
      R"({"modality": {"0": "CT"}, "labels": {"liver": 1, "background": 0}, "training": [], "test": ["a.nii"]})",
      "d", "x");
  EXPECT_EQ(turned.labels, (std::vector<std::string>{"background", "liver"}));
}

TEST(DecathlonIndex, RefusesBrokenOnesInOneLine) {
  const auto refusal = [](const std::string& file) {
    return message_of<DataError>([&] { parse_decathlon(file, "d", "d/dataset.json"); });
  };
  EXPECT_TRUE(refusal("{").starts_with("d/dataset.json: ")) << refusal("{");
  EXPECT_EQ(refusal("[]"), "d/dataset.json: must be a JSON object");
  EXPECT_EQ(refusal("{}"), "d/dataset.json: 'modality' is missing");
  EXPECT_EQ(refusal(R"({"modality": {}})"), "d/dataset.json: 'modality' must name at least one");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a", "2": "b"}})"),
            "d/dataset.json: 'labels' must be numbered 0 .. 1, got '2'");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}})"),
            "d/dataset.json: 'training' and 'test' name no case at all");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}, "training": ["a.nii"]})"),
            "d/dataset.json: a training case must have an image and a label");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}, "test": ["../../etc/passwd"]})"),
            "d/dataset.json: paths must be relative and inside the folder, got '../../etc/passwd'");
}

TEST(Phantoms, AreTheSameForTheSameSeedAndHaveNestedRegions) {
  const PhantomsMakerOptions o{.size = {32, 36, 32}, .spacing = {5, 5, 5}};
  std::set<std::vector<int16_t>> different;
  int64_t labelled[4] = {};
  for (int64_t i = 0; i < 6; ++i) {
    const Phantom a = make_phantom(o, i);
    EXPECT_EQ(a.image, make_phantom(o, i).image);
    different.insert(a.image);
    const auto voxels = static_cast<int64_t>(a.mask.size());
    ASSERT_EQ(static_cast<int64_t>(a.image.size()), 4 * voxels);
    for (int64_t v = 0; v < voxels; ++v) {
      ASSERT_LE(a.mask[v], 3);
      ++labelled[a.mask[v]];
      for (int m = 1; m < 4; ++m) {  // all modalities have one brain
        ASSERT_EQ(a.image[v] == 0, a.image[m * voxels + v] == 0);
      }
      ASSERT_TRUE(a.mask[v] == 0 || a.image[v] > 0);
    }
  }
  EXPECT_EQ(different.size(), 6u);
  for (int k = 0; k < 4; ++k) {
    EXPECT_GT(labelled[k], 50) << k;
  }
  EXPECT_GT(labelled[1], labelled[2]);  // edema is the largest
}

TEST(Phantoms, AreASetForTheReader) {
  const Folder folder;
  const auto o = small();
  ASSERT_TRUE(make_phantoms(o, folder / "set"));
  const auto splits = open_decathlon(set_at(folder / "set"));
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.valid->size(), 1);
  EXPECT_EQ(splits.test->size(), 2);
  std::set<std::string> sources;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    EXPECT_EQ(set->schema().interface, [&] {
      Interface wanted = decathlon_schema(set_at("")).interface;
      wanted.typical_nodes = 20 * 24 * 18;
      return wanted;
    }());
    for (int64_t i = 0; i < set->size(); ++i) {
      sources.insert(set->source(i));
      const Batch batch = set->batch(std::vector<int64_t>{i});
      require_consistent(batch, set->schema());
      const auto& grid = std::get<Grid>(batch.input);
      EXPECT_EQ(grid.values.sizes(), (at::IntArrayRef{1, 4, 20, 24, 18}));
      EXPECT_EQ(grid.spacing, (std::array<double, 3>{8, 7.5, 8}));
      EXPECT_EQ(batch.labels.at("mask").sizes(), (at::IntArrayRef{1, 1, 20, 24, 18}));
      // Mean 0 and deviation 1 over the brain.
      for (int m = 0; m < 4; ++m) {
        const Tensor x = grid.values[0][m].to(at::kDouble);
        const Tensor inside = x.masked_select(x != 0);
        EXPECT_NEAR(inside.mean().item<double>(), 0, 1e-4);
        EXPECT_NEAR(inside.std(false).item<double>(), 1, 1e-4);
      }
    }
  }
  EXPECT_EQ(sources.size(), 5u);
  // The values themselves, in canonical order: the files run left and back, x and y are turned.
  auto raw = set_at(folder / "set");
  raw.normalise = false;
  raw.fractions = {0, 0, 1};
  const auto all = open_decathlon(raw).test;
  ASSERT_EQ(all->size(), 5);
  EXPECT_TRUE(all->source(3).ends_with("imagesTr/PHANTOM_004.nii.gz"));
  const Phantom made = make_phantom(o, 3);
  const Batch read = all->batch(std::vector<int64_t>{3});
  const Tensor image = at::tensor(std::vector<int64_t>(made.image.begin(), made.image.end()))
                           .reshape({4, 18, 24, 20})
                           .permute({0, 3, 2, 1})
                           .flip({1, 2});
  EXPECT_TRUE(at::equal(std::get<Grid>(read.input).values[0], image.to(at::kFloat)));
  const Tensor mask = at::tensor(std::vector<int64_t>(made.mask.begin(), made.mask.end()))
                          .reshape({18, 24, 20})
                          .permute({2, 1, 0})
                          .flip({0, 1});
  EXPECT_TRUE(at::equal(read.labels.at("mask")[0][0], mask));
  // A prediction equal to the mask is the mask's file again.
  const auto path = write_prediction(all->source(3), folder / "predicted", read.labels.at("mask")[0][0]);
  EXPECT_EQ(read_nifti(path).bytes, read_nifti(folder / "set/labelsTr/PHANTOM_004.nii.gz").bytes);
  EXPECT_EQ(read_nifti(path).header.geometry,
            read_nifti(folder / "set/labelsTr/PHANTOM_004.nii.gz").header.geometry);
}

TEST(Decathlon, NormalisesOverTheVoxelsAskedFor) {
  const Folder folder;
  NiftiHeader header{.type = ElementType::i16, .shape = {4, 1, 1}};
  const int16_t stored[] = {-1000, 0, 40, 60};
  write_nifti(folder / "ct.nii", header, std::as_bytes(std::span(stored)));
  const auto values = [&](DecathlonDataOptions o) {
    o.modalities = 1;
    const auto set = open_volume_files(folder / "ct.nii", o);
    return std::get<Grid>(set->batch(std::vector<int64_t>{0}).input).values.flatten();
  };
  const Tensor raw = at::tensor({-1000, 0, 40, 60}, at::kFloat);
  EXPECT_TRUE(at::equal(values({.normalise = false}), raw));
  const auto normal = [](const Tensor& x) { return (x - x.mean()) / x.std(false); };
  EXPECT_TRUE(at::allclose(values({.normalise_over = VoxelsCounted::all}), normal(raw), 1e-5, 1e-6));
  const Tensor nonzero = values({});
  EXPECT_EQ(nonzero[1].item<float>(), 0);
  EXPECT_NEAR(nonzero[3].item<float>(), normal(raw.index_select(0, at::tensor({0, 2, 3})))[2].item<float>(),
              1e-5);
}

TEST(VolumeCache, KeepsTheLastUsedThatItsBytesHold) {
  const auto volume = [](int64_t value) {
    return Volume{at::full({1, 2, 2, 2}, value, at::kFloat), at::zeros({2, 2, 2}, at::kByte)};
  };
  EXPECT_EQ(volume(0).bytes(), 40);
  VolumeCache cache(100);  // two of them
  cache.keep(1, volume(1));
  cache.keep(2, volume(2));
  ASSERT_TRUE(cache.find(1));
  cache.keep(3, volume(3));  // 2 was used longest ago
  EXPECT_FALSE(cache.find(2));
  EXPECT_EQ(cache.find(1)->image.min().item<float>(), 1);
  EXPECT_EQ(cache.find(3)->image.min().item<float>(), 3);
  cache.keep(4, {at::zeros({1, 3, 3, 3}, at::kFloat), {}});  // 108 bytes: more than it may hold
  EXPECT_FALSE(cache.find(4));
  EXPECT_TRUE(cache.find(1) && cache.find(3));
  VolumeCache none(0);
  none.keep(1, volume(1));
  EXPECT_FALSE(none.find(1));
}

TEST(VolumeCache, ServesSeveralThreads) {
  VolumeCache cache(10 * 32);
  std::atomic<int64_t> wrong = 0, found = 0;
  const auto work = [&](int64_t first) {
    for (int64_t i = 0; i < 3000; ++i) {
      const int64_t index = (first + i * i + i / 50) % 16;
      if (const auto held = cache.find(index)) {
        ++found;
        wrong += held->image.const_data_ptr<float>()[0] == static_cast<float>(index) ? 0 : 1;
      } else {
        cache.keep(index, {at::full({1, 2, 2, 2}, index, at::kFloat), {}});
      }
    }
  };
  std::thread one(work, 0), two(work, 5);
  one.join();
  two.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 0);
}

TEST(Phantoms, KeepsOrLeavesNothing) {
  const Folder folder;
  EXPECT_FALSE(make_phantoms(small(200), folder / "a", {{}, [] { return true; }}));
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_TRUE(make_phantoms(small(1), folder / "b"));
  EXPECT_THROW(make_phantoms(small(1), folder / "b"), ConfigError);
  EXPECT_EQ(read_decathlon(folder / "b").training.size(), 1u);
  PhantomsMakerOptions flat = small();
  flat.size = {20, 20};
  EXPECT_THROW(make_phantom(flat, 0), ConfigError);
}

TEST(Decathlon, SplitsAreAFunctionOfTheSeed) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms({.count = 10, .size = {8, 8, 8}, .spacing = {20, 20, 20}}, folder / "set"));
  const auto sources = [&](const DecathlonDataOptions& o) {
    std::vector<std::string> result;
    const auto splits = open_decathlon(o);
    for (const auto& set : {splits.train, splits.valid, splits.test}) {
      for (int64_t i = 0; set && i < set->size(); ++i) {
        result.push_back(set->source(i));
      }
    }
    return result;
  };
  auto o = set_at(folder / "set");
  EXPECT_EQ(sources(o), sources(o));
  std::string numbers;  // the same in every version
  for (const auto& source : sources(o)) {
    numbers += fs::path(source).stem().stem().string().back();
  }
  EXPECT_EQ(numbers, "3580124679");
  auto other = o;
  other.seed = 1;
  EXPECT_NE(sources(o), sources(other));
  o.train = 3;
  o.valid = 2;
  o.test = 5;
  EXPECT_EQ(open_decathlon(o).test->size(), 5);
  o.train = 4;
  EXPECT_EQ(message_of<DataError>([&] { open_decathlon(o); }),
            o.path +
                ": data.decathlon.train, valid and test must add up to at most 10, the samples there are, "
                "got 4, 2 and 5");
}

TEST(Decathlon, OpensByPath) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small(3), folder / "set"));
  // Named by a path, the set is used whole; a folder or a file of volumes has no labels.
  const DataOptions options{set_at("/elsewhere")};
  EXPECT_EQ(open_file(folder / "set", options)->size(), 3);
  const auto files = open_file(folder / "set/imagesTr", options);
  EXPECT_EQ(files->size(), 3);
  EXPECT_TRUE(files->schema().labels.empty());
  require_consistent(files->batch(std::vector<int64_t>{0, 2}), files->schema());
  const auto one = open_file(folder / "set/imagesTr/PHANTOM_002.nii.gz", {});
  EXPECT_EQ(one->size(), 1);
  EXPECT_EQ(one->schema().interface.features.at(0).channels, 4);
  EXPECT_TRUE(one->batch(std::vector<int64_t>{0}).labels.empty());
  const Inspection found = inspect(*open_for_inspection(folder / "set").at(0).second);
  EXPECT_EQ(found.carrier, Carrier::grid);
  EXPECT_EQ(found.labels.at(0).name, "mask");
}

TEST(Decathlon, IsInspectedAsItselfThoughPicturesLieInIt) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small(3), folder / "set"));
  write_image(folder / "set/imagesTr/preview.png", {ElementType::u8, {1, 1, 1}, {std::byte{7}}});
  const auto found = open_for_inspection(folder / "set");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].second->schema().interface.features.at(0).name, "modalities");
}

class BrokenSet : public ::testing::Test {
 protected:
  BrokenSet() { make_phantoms(small(2), folder_ / "set"); }
  std::string image(int i) const {
    return folder_ / ("set/imagesTr/PHANTOM_00" + std::to_string(i) + ".nii.gz");
  }
  std::string mask(int i) const {
    return folder_ / ("set/labelsTr/PHANTOM_00" + std::to_string(i) + ".nii.gz");
  }
  std::string opening(DecathlonDataOptions o) const {
    o.path = folder_ / "set";
    o.fractions = {1, 0, 0};
    return message_of<DataError>([&] { open_decathlon(o); });
  }
  std::string loading(std::vector<int64_t> samples = {0}) const {
    DecathlonDataOptions o{.path = folder_ / "set", .fractions = {1, 0, 0}};
    const auto set = open_decathlon(o).train;
    return message_of<DataError>([&] { set->batch(samples); });
  }
  Folder folder_;
};

TEST_F(BrokenSet, VolumesLargerThanTheLimit) {
  NiftiHeader header = read_nifti_header(image(2));
  header.shape = {128, 128, 17, 4};
  write_nifti(image(2), header, std::vector<std::byte>(128 * 128 * 17 * 8));
  EXPECT_NE(opening({.limit = 4})
                .find(image(2) + ": sizes [128, 128, 17, 4] are 4.25 MiB as float32, more "
                                 "than the 4 that one volume may have; a config allows more by "
                                 "data.decathlon.limit"),
            std::string::npos)
      << opening({.limit = 4});
  EXPECT_EQ(opening({.limit = 5}).find("limit"), std::string::npos);
}

TEST_F(BrokenSet, MissingFoldersAndFiles) {
  EXPECT_NE(message_of<DataError>([] {
              open_decathlon({.path = "/nowhere"});
            }).find("weyl data make phantoms --out /nowhere"),
            std::string::npos);
  EXPECT_NE(
      message_of<DataError>([&] { open_decathlon({.path = folder_.path()}); }).find("holds no dataset.json"),
      std::string::npos);
  fs::remove(mask(2));
  EXPECT_TRUE(opening({}).starts_with(mask(2) + ": ")) << opening({});
}

TEST_F(BrokenSet, OtherChannelsAndClasses) {
  const std::string json = folder_ / "set/dataset.json";
  EXPECT_EQ(opening({.modalities = 3}),
            json + ": data.decathlon.modalities must be 4, those it names, got 3");
  EXPECT_EQ(opening({.classes = 2}), json + ": data.decathlon.classes must be 4, those it names, got 2");
}

TEST_F(BrokenSet, MaskOfAnotherSizeOrPlace) {
  NiftiHeader header = read_nifti_header(mask(1));
  header.shape[1] = 23;
  write_nifti(mask(1), header, std::vector<std::byte>(20 * 23 * 18));
  EXPECT_EQ(opening({}), mask(1) + ": the mask must have the sizes of its image " + image(1) +
                             ", [20, 24, 18], got [20, 23, 18]");
  header.shape[1] = 24;
  header.geometry.srow[3] += 4;  // half a voxel
  write_nifti(mask(1), header, std::vector<std::byte>(20 * 24 * 18));
  EXPECT_NE(opening({}).find(mask(1) + ": by its affine the mask stands 0.53"), std::string::npos)
      << opening({});
  EXPECT_EQ(opening({.check_geometry = false}), "");
  // what rounding does is not a fault
  header.geometry.srow[3] -= 4 - 1e-4;
  write_nifti(mask(1), header, std::vector<std::byte>(20 * 24 * 18));
  EXPECT_EQ(opening({}), "");
}

TEST_F(BrokenSet, LabelsOutsideTheClassesAndTruncatedFiles) {
  Nifti read = read_nifti(mask(1));
  read.bytes[20 * 3 + 7] = std::byte{4};
  write_nifti(mask(1), read.header, read.bytes);
  EXPECT_EQ(loading(), mask(1) + ": labels must be whole numbers 0 .. 3, got 4 at voxel (7, 3, 0)");
  fs::resize_file(image(2), fs::file_size(image(2)) / 2);
  EXPECT_EQ(loading({1}), image(2) + ": the gzip stream is truncated");
}

TEST_F(BrokenSet, BatchesOfDifferentSizes) {
  NiftiHeader header = read_nifti_header(image(2));
  header.shape = {10, 24, 18, 4};
  write_nifti(image(2), header, std::vector<std::byte>(10 * 24 * 18 * 8));
  header = read_nifti_header(mask(2));
  header.shape = {10, 24, 18};
  write_nifti(mask(2), header, std::vector<std::byte>(10 * 24 * 18));
  EXPECT_EQ(loading({0, 1}),
            image(2) +
                ": volumes of one batch must have one size and spacing, [10, 24, 18] at 8 x 7.5 x 8 "
                "mm is not [20, 24, 18] at 8 x 7.5 x 8 mm of " +
                image(1));
}

TEST_F(BrokenSet, ValuesThatAreNotFinite) {
  NiftiHeader header = read_nifti_header(image(1));
  header.type = ElementType::f32;
  std::vector<float> values(20 * 24 * 18 * 4, 1.F);
  values[99] = NAN;
  write_nifti(image(1), header, std::as_bytes(std::span(values)));
  EXPECT_EQ(loading(), image(1) + ": values must be finite, some are not");
}

}  // namespace
}  // namespace weyl
