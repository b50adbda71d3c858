// The set `decathlon`.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "tests/data/folder.h"
#include "tests/data/phantoms.h"
#include "tests/peak_memory.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/core/check.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/images/image.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace volumes_test {

namespace fs = std::filesystem;

TEST(VolumeIndex, ReadsTheOriginalAndItself) {
  const char* original = R"({"name": "BRATS", "modality": {"0": "FLAIR", "1": "T1w"},
    "labels": {"0": "background", "1": "edema", "2": "tumor"}, "numTraining": 1,
    "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}],
    "test": ["./imagesTs/b.nii.gz"]})";
  const auto index = parse_volume_index(original, "/data", "x");
  EXPECT_EQ(index.name, "BRATS");
  EXPECT_EQ(index.modalities, (std::vector<std::string>{"FLAIR", "T1w"}));
  EXPECT_EQ(index.labels, (std::vector<std::string>{"background", "edema", "tumor"}));
  EXPECT_EQ(index.training.at(0).channels.at(0), "/data/imagesTr/a.nii.gz");
  EXPECT_EQ(index.training.at(0).mask, "/data/labelsTr/a.nii.gz");
  EXPECT_EQ(index.test.at(0).channels.at(0), "/data/imagesTs/b.nii.gz");
  VolumeIndex relative = index;
  relative.training = {{"", {"imagesTr/a.nii.gz"}, "labelsTr/a.nii.gz"}};
  relative.test = {};
  const auto again = parse_volume_index(decathlon_json(relative), "/data", "x");
  EXPECT_EQ(again.labels, index.labels);
  EXPECT_EQ(again.training.at(0).channels.at(0), "/data/imagesTr/a.nii.gz");
  // labels the other way round
  const auto turned = parse_volume_index(
      R"({"modality": {"0": "CT"}, "labels": {"liver": 1, "background": 0}, "training": [], "test": ["a.nii"]})",
      "d", "x");
  EXPECT_EQ(turned.labels, (std::vector<std::string>{"background", "liver"}));
}

TEST(VolumeIndex, RefusesBrokenOnesInOneLine) {
  const auto refusal = [](const std::string& file) {
    return message_of<DataError>([&] { parse_volume_index(file, "d", "d/dataset.json"); });
  };
  EXPECT_TRUE(refusal("{").starts_with("d/dataset.json: ")) << refusal("{");
  EXPECT_EQ(refusal("[]"), "d/dataset.json: must be a JSON object");
  EXPECT_EQ(refusal("{}"), "d/dataset.json: 'modality' is missing");
  EXPECT_EQ(refusal(R"({"modality": {}})"), "d/dataset.json: 'modality' must name at least one");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"1": "a", "2": "b"}})"),
            "d/dataset.json: 'labels' must have a background of number 0, the least is 1");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}})"),
            "d/dataset.json: 'training' and 'test' name no case at all");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}, "training": ["a.nii"]})"),
            "d/dataset.json: a training case must have an image and a label");
  EXPECT_EQ(refusal(R"({"modality": {"0": "CT"}, "labels": {"0": "a"}, "test": ["../../etc/passwd"]})"),
            "d/dataset.json: paths must be relative and inside the folder, got '../../etc/passwd'");
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

const std::string reports = WEYL_SOURCE_DIR "/tests/fixtures/reports/";

std::vector<std::pair<std::string, Inspection>> inspected(const std::string& path) {
  std::vector<std::pair<std::string, Inspection>> all;
  inspect_path(path, [&](const std::string& split, const AnyInspection& any) {
    all.emplace_back(split, std::get<Inspection>(any));
  });
  return all;
}

TEST(Decathlon, NormalisedMasksKeepTheirTwoValues) {
  const std::string path = reports + "03a_binary_volume";
  const Splits splits = open_set(DecathlonDataOptions{.path = path, .modalities = 1, .classes = 2});
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    for (int64_t i = 0; i < set->size(); ++i) {
      const Tensor values = std::get<Grid>(set->batch(std::vector<int64_t>{i}).input).values.to(at::kDouble);
      const double low = values.min().item<double>(), high = values.max().item<double>();
      EXPECT_LT(low, 0) << set->source(i);
      EXPECT_GT(high, 0) << set->source(i);
      EXPECT_TRUE(values.eq(low).logical_or(values.eq(high)).all().item<bool>()) << set->source(i);
      EXPECT_NEAR(values.mean().item<double>(), 0, 1e-5);
      EXPECT_NEAR(values.std(false).item<double>(), 1, 1e-5);
    }
  }
  int64_t copies = 0;
  for (const auto& [split, found] : inspected(path)) {
    for (const std::string& warning : found.warnings) {
      EXPECT_EQ(warning.find("samples have the inputs of"), std::string::npos) << warning;
      EXPECT_EQ(warning.find("one value"), std::string::npos) << warning;
      copies += warning.find("has the inputs of") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(copies, 1);  // c5 is a copy of c0
}

TEST(Decathlon, NearlyEqualValuesAreNoNoiseAndConstantOnesAreToldOf) {
  const Folder folder;
  const NiftiHeader header{.type = ElementType::f32, .shape = {6, 1, 1, 2}};
  // A mask that an interpolation left rough, and a channel without contrast that no mean of doubles meets.
  const float stored[] = {0, 0, 0, 254.99F, 255, 255.01F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F};
  write_nifti(folder / "a.nii", header, std::as_bytes(std::span(stored)));
  for (const VoxelsCounted counted : {VoxelsCounted::nonzero, VoxelsCounted::all}) {
    const auto set = open_volume_files(folder / "a.nii", {.modalities = 2, .normalise_over = counted});
    const Tensor values = std::get<Grid>(set->batch(std::vector<int64_t>{0}).input).values.flatten();
    for (int64_t i = 0; i < 12; ++i) {
      EXPECT_NEAR(values[i].item<float>(), i < 3 ? -1 : i < 6 ? 1 : 0, 1e-3) << i;
    }
    const auto found = inspect(*set).warnings;
    const std::string wanted =
        "1 sample has one value everywhere in channel 2, the first is sample 0 (" + (folder / "a.nii") + ")";
    EXPECT_EQ(std::ranges::count(found, wanted), 1);
  }
}

/// The values of a channel of half zeros, normalised as by default; the other half is `value(k)`, k from 0 on.
Tensor normalised(int count, const std::function<float(int)>& value) {
  const Folder folder;
  std::vector<float> stored(2 * static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) {
    stored[2 * static_cast<size_t>(k)] = value(k);
  }
  write_nifti(folder / "a.nii", {.type = ElementType::f32, .shape = {2 * count, 1, 1}},
              std::as_bytes(std::span(stored)));
  const auto set = open_volume_files(folder / "a.nii", {.modalities = 1});
  return std::get<Grid>(set->batch(std::vector<int64_t>{0}).input).values.flatten().to(at::kDouble);
}

TEST(Decathlon, AFewHotVoxelsDoNotDecideHowAVolumeIsNormalised) {
  constexpr int count = 400;
  const auto ratio = [](int k) { return 1.2F + 0.6F * static_cast<float>(k) / count; };
  for (const float hot : {1.5F, 60.F, -60.F, 1e6F}) {
    const Tensor values = normalised(count, [&](int k) { return k == 7 ? hot : ratio(k); });
    EXPECT_TRUE(values.slice(0, 1, {}, 2).eq(0).all().item<bool>()) << hot;  // the background stays 0
    const Tensor object = values.slice(0, 0, {}, 2);
    EXPECT_NEAR(object.mean().item<double>(), 0, 1e-5) << hot;
    EXPECT_NEAR(object.std(false).item<double>(), 1, 1e-5) << hot;
  }
  // A mask stays apart from its background, hot voxels or not.
  for (const float hot : {1.F, 60.F, 1e6F}) {
    const Tensor values = normalised(count, [&](int k) { return k == 7 ? hot : 1.F; });
    EXPECT_NEAR(values.mean().item<double>(), 0, 1e-4) << hot;
    EXPECT_LT(values[1].item<double>(), values[0].item<double>()) << hot;
    EXPECT_LT(values[1].item<double>(), 0) << hot;
  }
}

TEST(Decathlon, SpacingAndAxesAreToldAndSizesThatDisagree) {
  const std::string path = reports + "19_sform_without_voxel_size.nii";
  const Inspection found = inspected(path).at(0).second;
  ASSERT_TRUE(found.volumes.has_value());
  EXPECT_EQ(found.volumes->least_spacing, (std::array<double, 3>{1, 1, 1}));  // the sform's, by the standard
  EXPECT_EQ(found.volumes->most_spacing, (std::array<double, 3>{1, 1, 1}));
  EXPECT_EQ(found.volumes->unit, "mm");
  EXPECT_EQ(found.volumes->axes, (std::map<std::string, int64_t>{{"RAS", 1}}));
  const bool told = std::ranges::any_of(found.warnings, [&](const std::string& warning) {
    return warning ==
           "1 sample: the sform has voxels of 1 x 1 x 1, which are taken, pixdim has 0.5 x 0.5 x 0.8; a "
           "resampled file may have kept an old sform; the first is sample 0 (" +
               path + ")";
  });
  EXPECT_TRUE(told) << (found.warnings.empty() ? "" : found.warnings[0]);
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small_phantoms(3), folder / "set"));
  for (const auto& [split, of] : inspected(folder / "set")) {
    ASSERT_TRUE(of.volumes.has_value()) << split;
    EXPECT_EQ(of.volumes->least_spacing, (std::array<double, 3>{8, 7.5, 8})) << split;
    EXPECT_EQ(of.volumes->axes.begin()->second, of.samples) << split;
    for (const std::string& warning : of.warnings) {
      EXPECT_EQ(warning.find("sform"), std::string::npos) << warning;
    }
  }
}

TEST(Nifti, AxisCodesAreThoseOfTheFile) {
  EXPECT_EQ(axis_codes({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}), "RAS");
  EXPECT_EQ(axis_codes({-2, 0, 0, 5, 0, -2, 0, 5, 0, 0, 3, 5}), "LPS");
  EXPECT_EQ(axis_codes({0, 0, -1, 0, 1, 0, 0, 0, 0, -1, 0, 0}),
            "AIL");  // i to the front, j down, k to the left
}

TEST(Decathlon, OtherLayoutsAndNumbersAreRead) {
  for (const auto& [name, classes] : {std::pair{"15a_nnunet_v2", 3}, {"15b_labels_0_1_2_4", 4}}) {
    const Splits splits = open_set(DecathlonDataOptions{
        .path = reports + name, .modalities = 1, .classes = classes, .normalise = false});
    EXPECT_EQ(splits.train->size() + splits.valid->size() + splits.test->size(), 10) << name;
    const Batch batch = splits.train->batch(std::vector<int64_t>{0});
    EXPECT_LT(batch.labels.at("mask").max().item<int64_t>(), classes) << name;
    int64_t samples = 0;
    for (const auto& [split, found] : inspected(reports + name)) {
      samples += found.samples;
    }
    EXPECT_EQ(samples, 10) << name;
  }
}

TEST(Decathlon, SplitsAreAFunctionOfTheSeed) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms({.count = 10, .size = {8, 8, 8}, .spacing = {20, 20, 20}}, folder / "set"));
  const auto sources = [&](const DecathlonDataOptions& o) {
    std::vector<std::string> result;
    const auto splits = open_set(o);
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
  EXPECT_EQ(open_set(o).test->size(), 5);
  o.train = 4;
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            o.path +
                ": data.decathlon.train, valid and test must add up to at most 10, the samples there are, "
                "got 4, 2 and 5");
}

TEST(Decathlon, OpensByPath) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small_phantoms(3), folder / "set"));
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

TEST(Decathlon, ChannelsAndClassesAreCalledAsTheIndexHasThem) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small_phantoms(3), folder / "set"));
  const std::vector<std::string> modalities{"FLAIR", "T1w", "T1gd", "T2w"};
  const auto set = open_set(set_at(folder / "set")).test;
  EXPECT_EQ(set->schema().channel_names, modalities);
  EXPECT_EQ(set->schema().category_names.at("mask").at(1), "edema");
  const SampleFacts facts = facts_of(*set);
  EXPECT_EQ(facts.spacing, (SampleFacts::Spacing{{8, 7.5, 8}, {8, 7.5, 8}}));
  EXPECT_EQ(facts.channels, modalities);
  EXPECT_EQ(facts.classes.size(), 4u);
  EXPECT_EQ(facts.unit, "mm");
  // Volumes alone, where the dataset.json above them lists one.
  const DataOptions options{set_at("/elsewhere")};
  const auto channels = [&](const std::string& path) {
    return open_file(path, options)->schema().channel_names;
  };
  EXPECT_EQ(channels(folder / "set/imagesTr"), modalities);
  EXPECT_EQ(channels(folder / "set/imagesTr/PHANTOM_002.nii.gz"), modalities);
  fs::create_directory_symlink(folder / "set/imagesTr", folder / "link");
  EXPECT_TRUE(channels(folder / "link").empty());  // no dataset.json beside it
  fs::create_directories(folder / "set/others");
  fs::copy_file(folder / "set/imagesTr/PHANTOM_001.nii.gz", folder / "set/others/a.nii.gz");
  EXPECT_TRUE(channels(folder / "set/others").empty());  // not one of the set's
  std::ofstream(folder / "set/dataset.json") << "no index";
  EXPECT_TRUE(channels(folder / "set/imagesTr").empty());
}

TEST(Decathlon, IsInspectedAsItselfThoughPicturesLieInIt) {
  const Folder folder;
  ASSERT_TRUE(make_phantoms(small_phantoms(3), folder / "set"));
  write_image(folder / "set/imagesTr/preview.png", {ElementType::u8, {1, 1, 1}, {std::byte{7}}});
  const auto found = open_for_inspection(folder / "set");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].second->schema().interface.features.at(0).name, "modalities");
}

class BrokenSet : public ::testing::Test {
 protected:
  BrokenSet() { make_phantoms(small_phantoms(2), folder_ / "set"); }
  std::string image(int i) const {
    return folder_ / ("set/imagesTr/PHANTOM_00" + std::to_string(i) + ".nii.gz");
  }
  std::string mask(int i) const {
    return folder_ / ("set/labelsTr/PHANTOM_00" + std::to_string(i) + ".nii.gz");
  }
  std::string opening(DecathlonDataOptions o) const {
    o.path = folder_ / "set";
    o.fractions = {1, 0, 0};
    return message_of<DataError>([&] { open_set(o); });
  }
  std::string loading(std::vector<int64_t> samples = {0}) const {
    DecathlonDataOptions o{.path = folder_ / "set", .fractions = {1, 0, 0}};
    const auto set = open_set(o).train;
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

// A billion voxels, of which none is on the disk: they are described, and not read.
TEST(Decathlon, WhatIsTooLargeIsInspectedByItsHeader) {
  const Folder folder;
  const std::string path = folder / "large.nii";
  NiftiHeader header{.type = ElementType::u8, .shape = {1000, 1000, 1000}};
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(nifti_header_bytes(header).data()), 352);
  fs::resize_file(path, 352 + 1'000'000'000);
  Inspection found;
  const int64_t memory = memory_of([&] { found = inspect(*open_for_inspection(path).at(0).second); });
  EXPECT_LT(memory, int64_t{100} << 20);
  ASSERT_EQ(found.fields.size(), 1u);
  EXPECT_EQ(found.fields[0].shape, (std::vector<int64_t>{1, 1, 1000, 1000, 1000}));
  EXPECT_FALSE(found.fields[0].read);
  EXPECT_TRUE(std::isnan(found.fields[0].max));
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_EQ(found.warnings[0],
            "1 sample of more than 268435456 values, known by the header alone, the first is sample 0");
}

TEST_F(BrokenSet, MissingFoldersAndFiles) {
  EXPECT_NE(message_of<DataError>([] {
              open_set(DecathlonDataOptions{.path = "/nowhere"});
            }).find("weyl data make phantoms --out /nowhere"),
            std::string::npos);
  EXPECT_NE(message_of<DataError>([&] {
              open_set(DecathlonDataOptions{.path = folder_.path()});
            }).find("holds no dataset.json"),
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

}  // namespace volumes_test
}  // namespace weyl
