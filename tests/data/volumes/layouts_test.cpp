// The layouts of folders of volumes, their classes, and how their cases are split.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>

#include "tests/data/folder.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/core/check.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace volume_layouts_test {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

/// A volume of 4 x 3 x 2 voxels, of which voxel i is `base` + i.
void write_image(const std::string& path, int base) {
  std::vector<int16_t> values(24);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int16_t>(base + static_cast<int>(i));
  }
  fs::create_directories(fs::path(path).parent_path());
  write_nifti(path, {.type = ElementType::i16, .shape = {4, 3, 2}}, std::as_bytes(std::span(values)));
}

/// A mask of the same size, whose first voxels are `numbers`.
void write_mask(const std::string& path, const std::vector<uint8_t>& numbers) {
  std::vector<uint8_t> values(24);
  std::ranges::copy(numbers, values.begin());
  fs::create_directories(fs::path(path).parent_path());
  write_nifti(path, {.type = ElementType::u8, .shape = {4, 3, 2}}, std::as_bytes(std::span(values)));
}

void write_text(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

constexpr const char* two_channels = R"({"channel_names": {"0": "CT", "1": "PET"},
  "labels": {"background": 0, "a": 1, "b": 2, "tumour": 4}, "numTraining": 5, "file_ending": ".nii.gz"})";

/// A set of nnU-Net v2 with five cases, two for a test, and labels 0 1 2 4.
void make_nnunet(const std::string& folder, const std::string& index = two_channels) {
  write_text(folder + "/dataset.json", index);
  for (int k = 0; k < 5; ++k) {
    const std::string name = "case_" + std::to_string(k);
    write_image(folder + "/imagesTr/" + name + "_0000.nii.gz", 10 * k);
    write_image(folder + "/imagesTr/" + name + "_0001.nii.gz", 100 + 10 * k);
    write_mask(folder + "/labelsTr/" + name + ".nii.gz", {4, 0, 1, 2});
  }
  for (const std::string name : {"x", "y"}) {
    write_image(folder + "/imagesTs/" + name + "_0000.nii.gz", 3);
    write_image(folder + "/imagesTs/" + name + "_0001.nii.gz", 4);
  }
}

DecathlonDataOptions raw(const std::string& path, int64_t modalities = 0, int64_t classes = 0) {
  return {.path = path, .modalities = modalities, .classes = classes, .normalise = false};
}

Names names_of_cases(const std::shared_ptr<const Dataset>& set) {
  Names names;
  for (int64_t i = 0; set != nullptr && i < set->size(); ++i) {
    names.push_back(set->name(i));
  }
  return names;
}

Names together(const Splits& splits) {
  Names all;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    const Names some = names_of_cases(set);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(VolumeLayouts, NnunetIsReadWithItsChannelsAndNumbers) {
  const Folder folder;
  make_nnunet(folder / "set");
  const VolumeIndex index = read_volume_index(folder / "set");
  EXPECT_EQ(index.modalities, (Names{"CT", "PET"}));
  EXPECT_EQ(index.labels, (Names{"background", "a", "b", "tumour"}));
  EXPECT_EQ(index.numbers, (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_TRUE(index.regions.empty());
  ASSERT_EQ(index.training.size(), 5u);
  EXPECT_EQ(index.training[1].name, "case_1");
  EXPECT_EQ(index.training[1].channels,
            (Names{folder / "set/imagesTr/case_1_0000.nii.gz", folder / "set/imagesTr/case_1_0001.nii.gz"}));
  EXPECT_EQ(index.training[1].mask, folder / "set/labelsTr/case_1.nii.gz");
  ASSERT_EQ(index.test.size(), 2u);
  EXPECT_TRUE(index.test[0].mask.empty());
  const Splits splits = open_set(raw(folder / "set", 2, 4));
  EXPECT_EQ(together(splits), (Names{"case_0", "case_1", "case_2", "case_3", "case_4"}));
  const Batch batch = splits.train->batch(std::vector<int64_t>{0});
  const Tensor values = std::get<Grid>(batch.input).values;
  EXPECT_EQ(values.sizes(), (at::IntArrayRef{1, 2, 4, 3, 2}));
  EXPECT_EQ((values[0][1] - values[0][0]).min().item<float>(), 100);
  const Tensor mask = batch.labels.at("mask")[0][0];
  EXPECT_EQ(mask[0][0][0].item<int64_t>(), 3);  // number 4 is class 3
  EXPECT_EQ(mask[3][0][0].item<int64_t>(), 2);
  EXPECT_EQ(splits.train->schema().channel_names, (Names{"CT", "PET"}));
  const SampleFacts facts = facts_of(*splits.train);
  EXPECT_EQ(facts.classes.back(), "tumour");
}

TEST(VolumeLayouts, PredictionsHaveTheNumbersOfTheFiles) {
  const Folder folder;
  make_nnunet(folder / "set");
  const auto set = open_set(raw(folder / "set", 2, 4)).train;
  const Tensor classes = set->batch(std::vector<int64_t>{0}).labels.at("mask")[0][0];
  const Tensor shares = at::one_hot(classes, 4).permute({3, 0, 1, 2}).to(at::kFloat);
  const CellPredictions there = set->as_in_file(0, {classes, shares});
  EXPECT_EQ(there.classes[0][0][0].item<int64_t>(), 4);
  EXPECT_EQ(there.classes.max().item<int64_t>(), 4);
  EXPECT_TRUE(at::equal(there.probabilities, shares));
  // A trained model keeps the numbers, and with them writes into volumes that lie elsewhere.
  const auto kept = as_opened(raw(folder / "set", 2, 4), *set);
  EXPECT_EQ(kept.labels, (std::vector<int64_t>{0, 1, 2, 4}));
  fs::copy(folder / "set/imagesTs", folder / "elsewhere");
  const auto files = open_volume_files(folder / "elsewhere", kept);
  EXPECT_EQ(names_of_cases(files), (Names{"x", "y"}));
  EXPECT_EQ(files->as_in_file(1, {classes, shares}).classes.max().item<int64_t>(), 4);
  EXPECT_EQ(names_of_cases(open_file(folder / "set/imagesTs", DataOptions{raw("", 2, 4)})),
            (Names{"x", "y"}));
}

/// Of masks whose first voxels are 4 0 1 2: those of 4 are no class, whatever becomes of the mask.
TEST(VolumeLayouts, VoxelsThatNobodyHasLabelledAreNoClass) {
  const Folder folder;
  make_nnunet(folder / "set", R"({"channel_names": {"0": "CT", "1": "PET"}, "file_ending": ".nii.gz",
    "labels": {"background": 0, "a": 1, "b": 2, "ignore": 4}})");
  const VolumeIndex index = read_volume_index(folder / "set");
  EXPECT_EQ(index.numbers, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(index.labels, (Names{"background", "a", "b"}));
  EXPECT_EQ(index.ignored, 4);
  DecathlonDataOptions o = raw(folder / "set", 2, 3);
  o.prepared = folder / "prepared";
  for (int time = 0; time < 2; ++time) {  // as it is read, and as it is kept
    const auto set = open_set(o).train;
    EXPECT_EQ(set->schema().labels[0].categories, 3);
    EXPECT_EQ(as_opened(o, *set).labels, index.numbers);
    const Tensor mask = set->batch(std::vector<int64_t>{0}).labels.at("mask")[0][0];
    EXPECT_EQ(mask[0][0][0].item<int64_t>(), -1);
    EXPECT_EQ(mask[3][0][0].item<int64_t>(), 2);
    EXPECT_EQ(mask.eq(-1).sum().item<int64_t>(), 1);
    const auto inspected = inspect(*set, "train");
    EXPECT_EQ(inspected.volumes->each[0].class_cells, (std::vector<int64_t>{21, 1, 1}));
  }
  o.spacing = {0.5, 0.5, 0.5};
  const auto finer = open_set(o).train;
  const Tensor mask = finer->batch(std::vector<int64_t>{0}).labels.at("mask");
  EXPECT_GT(mask.eq(-1).sum().item<int64_t>(), 1);
  EXPECT_EQ(mask.max().item<int64_t>(), 2);
  // A mask may still have no other number.
  for (int k = 0; k < 5; ++k) {
    write_mask(folder / ("set/labelsTr/case_" + std::to_string(k) + ".nii.gz"), {3});
  }
  const auto set = open_set(raw(folder / "set", 2, 3)).train;
  const std::string refused = message_of<DataError>([&] { set->batch(std::vector<int64_t>{0}); });
  EXPECT_NE(refused.find("labels must be of 0, 1, 2, 4, got 3"), std::string::npos) << refused;
}

TEST(VolumeLayouts, AModelWritesItsOwnNumbers) {
  const Folder folder;
  constexpr const char* index = R"({"channel_names": {"0": "CT", "1": "PET"}, "file_ending": ".nii.gz",
    "labels": {"background": 0, "a": 1, "b": 2}})";
  make_nnunet(folder / "own", index);
  const auto model = as_opened(raw(folder / "own", 2, 3), *open_set(raw(folder / "own", 2, 3)).train);
  EXPECT_EQ(model.labels, (std::vector<int64_t>{0, 1, 2}));
  std::string other = index;
  other.replace(other.find("\"a\": 1, \"b\": 2"), 14, "\"a\": 5, \"b\": 9");
  make_nnunet(folder / "other", other);
  const auto files = open_volume_files(folder / "other/imagesTs", model);
  const Tensor classes = at::full({4, 3, 2}, 2, at::kLong), shares = at::ones({3, 4, 3, 2});
  EXPECT_EQ(files->as_in_file(0, {classes, shares}).classes.max().item<int64_t>(), 2);
  EXPECT_EQ(open_volume_files(folder / "other/imagesTs", raw("", 2, 3))
                ->as_in_file(0, {classes, shares})
                .classes.max()
                .item<int64_t>(),
            9);
}

TEST(VolumeLayouts, PredictionsAreOfLabelledAndOtherCases) {
  const Folder folder;
  make_nnunet(folder / "set");
  EXPECT_TRUE(open_set(raw(folder / "set", 2, 4)).train->schema().warnings.empty());
  write_mask(folder / "set/labelsTs/x.nii.gz", {1});
  const auto all = open_file(folder / "set", DataOptions{raw("", 2, 4)});
  EXPECT_EQ(names_of_cases(all), (Names{"case_0", "case_1", "case_2", "case_3", "case_4", "x", "y"}));
  EXPECT_TRUE(all->schema().labels.empty());
  EXPECT_TRUE(all->batch(std::vector<int64_t>{0}).labels.empty());
  EXPECT_EQ(
      open_set(raw(folder / "set", 2, 4)).train->schema().warnings,
      Names{(folder / "set") + ": 1 of 2 test cases has no mask and is left out; predict takes them, too"});
}

TEST(VolumeLayouts, AFolderTakenWholeSaysWhatItLeavesOut) {
  const Folder folder;
  make_nnunet(folder / "set");
  const Splits whole = open_splits(all_of(DataOptions{raw("", 2, 4)}, folder / "set"));
  EXPECT_EQ(whole.test->size(), 5);
  EXPECT_EQ(
      whole.test->schema().warnings,
      Names{(folder / "set") + ": 2 of 2 test cases have no mask and are left out; predict takes them, too"});
  for (const std::string name : {"x", "y"}) {
    write_mask(folder / ("set/labelsTs/" + name + ".nii.gz"), {1});
  }
  EXPECT_TRUE(
      open_splits(all_of(DataOptions{raw("", 2, 4)}, folder / "set")).test->schema().warnings.empty());
  // Asked for by name they are an error.
  EXPECT_EQ(message_of<DataError>([&] { open_set(raw(folder / "set/imagesTs", 2, 4)); }),
            (folder / "set/imagesTs") +
                ": holds volumes without masks, which predict alone takes; give a folder that has images and "
                "masks");
}

TEST(VolumeLayouts, InspectionCountsClassesByTheirNumbers) {
  const Folder folder;
  for (const std::string name : {"a", "b", "c"}) {
    write_image(folder / ("set/images/" + name + ".nii.gz"), 5);
    write_mask(folder / ("set/masks/" + name + ".nii.gz"), {2, 0, 2, 7});
  }
  const Inspection found = inspect(*open_for_inspection(folder / "set").at(0).second);
  ASSERT_TRUE(found.volumes.has_value());
  EXPECT_EQ(found.volumes->numbers, (std::vector<int64_t>{0, 2, 7}));
  EXPECT_EQ(found.volumes->each.at(0).class_cells, (std::vector<int64_t>{21, 2, 1}));
}

TEST(VolumeLayouts, FilesOfOneChannelAreCalledAsTheirCases) {
  const Folder folder;
  write_image(folder / "loose/c0_0000.nii", 1);
  write_image(folder / "loose/c1_0000.nii", 1);
  EXPECT_EQ(names_of_cases(open_volume_files(folder / "loose", raw("", 1, 2))), (Names{"c0", "c1"}));
  write_image(folder / "loose/c2.nii", 1);  // then it is no number of a channel
  EXPECT_EQ(names_of_cases(open_volume_files(folder / "loose", raw("", 1, 2))), (Names{"", "", ""}));
}

TEST(VolumeLayouts, FoldersForPredictionHoldWholeCases) {
  const Folder folder;
  make_nnunet(folder / "set");
  const auto refusal_of = [](const std::string& path, int64_t channels) {
    return message_of<DataError>([&] { open_volume_files(path, raw("", channels, 4)); });
  };
  // Not six cases of one channel.
  EXPECT_NE(
      refusal_of(folder / "set/imagesTs", 1).find("has 2 channels of each case by the names of its files"),
      std::string::npos);
  fs::remove_all(folder / "set/imagesTs");
  write_image(folder / "set/imagesTs/z_0000.nii.gz", 1);
  write_image(folder / "set/imagesTs/z_0001.nii.gz", 1);
  EXPECT_NE(refusal_of(folder / "set/imagesTs", 1).find("has 2 channels of each case"), std::string::npos);
  write_image(folder / "set/imagesTs/w_0000.nii.gz", 1);
  EXPECT_NE(
      refusal_of(folder / "set/imagesTs", 2).find("the case 'w' must have 2 channels, a file each, got 1"),
      std::string::npos);
  // Numbers of patients are none of channels.
  for (const char* name : {"p_0000", "p_0001", "p_0002", "q_0001"}) {
    write_image(folder / "patients/" + name + ".nii", 1);
  }
  EXPECT_EQ(open_volume_files(folder / "patients", raw("", 1, 2))->size(), 4);
  // One of BraTS's cases alone.
  for (const char* channel : {"t2w", "t1n"}) {
    write_image(folder / "one/BraTS-00001/BraTS-00001-" + channel + ".nii.gz", 1);
  }
  write_mask(folder / "one/BraTS-00001/BraTS-00001-seg.nii.gz", {1});
  const auto one = open_volume_files(folder / "one/BraTS-00001", raw("", 2, 2));
  EXPECT_EQ(names_of_cases(one), (Names{"BraTS-00001"}));
  EXPECT_EQ(one->batch(std::vector<int64_t>{0}).tokens(), 24);
}

TEST(VolumeLayouts, MasksAreHeldToTheirImageInAnyUnit) {
  const Folder folder;
  const auto write = [](const std::string& path, double spacing, double begin, int32_t unit) {
    NiftiHeader header{.type = ElementType::u8, .shape = {4, 3, 2}};
    header.geometry.xyzt_units = unit;
    header.geometry.sform_code = 1;
    header.geometry.srow = {spacing, 0, 0, begin, 0, spacing, 0, 0, 0, 0, spacing, 0};
    std::ranges::fill_n(header.geometry.pixdim.begin() + 1, 3, spacing);
    fs::create_directories(fs::path(path).parent_path());
    write_nifti(path, header, std::vector<std::byte>(24));
  };
  const auto refusal = [&] { return message_of<DataError>([&] { open_set(raw(folder / "set", 1, 1)); }); };
  for (const std::string name : {"a", "b", "c"}) {
    write(folder / ("set/images/" + name + ".nii"), 0.001, 0, 1);  // metres
    write(folder / ("set/masks/" + name + ".nii"), 0.001, 0, 1);
  }
  EXPECT_EQ(refusal(), "");
  write(folder / "set/masks/b.nii", 1, 0, 2);  // the same in mm
  EXPECT_EQ(refusal(), "");
  write(folder / "set/masks/b.nii", 0.001, 0.0005, 1);
  EXPECT_NE(refusal().find("by its affine the mask stands 0.5"), std::string::npos) << refusal();
}

TEST(VolumeLayouts, RegionsOfNnunetBecomeClassesAndSuggestions) {
  const VolumeIndex index = parse_volume_index(
      R"({"channel_names": {"0": "T1"}, "file_ending": ".nii.gz", "regions_class_order": [1, 2, 3],
          "labels": {"background": 0, "whole tumor": [1, 2, 3], "tumor core": [2, 3], "enhancing": 3}})",
      "d", "x");
  EXPECT_EQ(index.numbers, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(index.labels, (Names{"background", "class 1", "class 2", "enhancing"}));
  ASSERT_EQ(index.regions.size(), 3u);
  EXPECT_EQ(index.regions[0].name, "whole tumor");
  EXPECT_EQ(index.regions[0].classes, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(index.regions[2].classes, (std::vector<int64_t>{3}));
}

TEST(VolumeLayouts, TestCasesWithMasksAreTheTestSplit) {
  const Folder folder;
  make_nnunet(folder / "set");
  write_mask(folder / "set/labelsTs/x.nii.gz", {1});
  const Splits splits = open_set(raw(folder / "set", 2, 4));
  EXPECT_EQ(names_of_cases(splits.test), Names{"x"});
  EXPECT_EQ(splits.train->size() + splits.valid->size(), 5);
  DecathlonDataOptions whole = raw(folder / "set", 2, 4);
  whole.fractions = {0, 0, 1};  // as data that --data names
  EXPECT_EQ(open_set(whole).test->size(), 6);
  DecathlonDataOptions counted = raw(folder / "set", 2, 4);
  counted.test = 1;
  EXPECT_EQ(message_of<ConfigError>([&] { open_set(counted); }),
            (folder / "set") +
                ": data.decathlon.test must be 0, because the folder has 1 labelled cases for a test of "
                "its own, got 1");
}

TEST(VolumeLayouts, PairsAndFoldersACaseAreRead) {
  const Folder folder;
  for (const std::string name : {"a", "b", "c"}) {
    write_image(folder / ("pairs/images/" + name + ".nii.gz"), 5);
    write_mask(folder / ("pairs/masks/" + name + ".nii.gz"), {0, 1});
    for (const std::string word : {"_t1", "_flair"}) {
      write_image(folder / ("brats/" + name + "/" + name + word + ".nii.gz"), word == "_t1" ? 10 : 70);
    }
    write_mask(folder / ("brats/" + name + "/" + name + "-seg.nii"), {1, 2, 4});
  }
  const VolumeIndex pairs = read_volume_index(folder / "pairs");
  EXPECT_EQ(pairs.training.size(), 3u);
  EXPECT_TRUE(pairs.numbers.empty());
  EXPECT_EQ(together(open_set(raw(folder / "pairs", 1, 2))), (Names{"a", "b", "c"}));
  const VolumeIndex brats = read_volume_index(folder / "brats");
  EXPECT_EQ(brats.modalities, (Names{"flair", "t1"}));
  EXPECT_EQ(brats.training[2].mask, folder / "brats/c/c-seg.nii");
  DecathlonDataOptions o = raw(folder / "brats", 2, 4);
  EXPECT_NE(message_of<DataError>([&] {
              open_set(o).train->batch(std::vector<int64_t>{0});
            }).find("-seg.nii: labels must be whole numbers 0 .. 3, got 4 at voxel (2, 0, 0)"),
            std::string::npos);
  o.labels = {0, 1, 2, 4};
  EXPECT_EQ(open_set(o).train->batch(std::vector<int64_t>{0}).labels.at("mask").max().item<int64_t>(), 3);
  // What only the files say, for inspection.
  const auto found = open_set(raw(folder / "brats"));
  EXPECT_EQ(found.train->schema().labels.at(0).categories, 4);
  // Without masks the cases are for prediction alone.
  for (const std::string name : {"a", "b", "c"}) {
    fs::remove(folder / ("brats/" + name + "/" + name + "-seg.nii"));
  }
  const Splits unlabelled = open_set(o);
  EXPECT_EQ(unlabelled.train, nullptr);
  EXPECT_EQ(unlabelled.test->size(), 3);
}

std::string refusal(const std::string& folder) {
  return message_of<DataError>([&] { read_volume_index(folder); });
}

TEST(VolumeLayouts, WhatIsBrokenOrAmbiguousIsRefusedByName) {
  const Folder folder;
  const std::string set = folder / "set";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = two_channels;
    text.replace(text.find(from), from.size(), to);
    write_text(set + "/dataset.json", text);
    return refusal(set);
  };
  make_nnunet(set);
  const std::string where = set + "/dataset.json: ";
  EXPECT_EQ(with(R"("a": 1)", R"("a": 2)"),
            where + "'labels' must have each number once, got 2 for 'a' and for 'b'");
  EXPECT_EQ(with(R"("a": 1)", R"("ignore": 1)"),
            where + "the label 'ignore' must have the highest number of 'labels', got 1 beside 4");
  EXPECT_EQ(with(R"("a": 1)", R"("a": 1, "ignore": 4)"),
            where + "the label 'ignore' must have the highest number of 'labels', got 4 beside 4");
  EXPECT_EQ(with(R"("a": 1)", R"("a": [1, 5], "ignore": 5)"),
            where + "the label 'ignore' must have the highest number of 'labels', got 5 beside 5");
  EXPECT_EQ(with(R"("a": 1)", R"("a": 1, "ignore": [5, 6])"),
            where + "the label 'ignore' must have one number");
  EXPECT_EQ(with(R"("a": 1)", R"("a": -1)"),
            where + "'labels' must have numbers 0 .. 65535, or lists of them, got that of 'a'");
  EXPECT_EQ(with(R"("background": 0, )", ""),
            where + "'labels' must have a background of number 0, the least is 1");
  EXPECT_TRUE(
      with(R"(".nii.gz")", R"(".png")")
          .starts_with(
              where + "'file_ending' must be .nii.gz, .nii, .mha or .nrrd, got '.png'; pictures with masks"));
  EXPECT_TRUE(with(R"(".nii.gz")", R"(".mhd")").find("save the volumes as NIfTI") != std::string::npos);
  write_text(set + "/dataset.json", two_channels);
  fs::remove(set + "/imagesTr/case_3_0001.nii.gz");
  EXPECT_EQ(refusal(set),
            set + "/imagesTr/case_3_0000.nii.gz: the case 'case_3' must have 2 channels, a file each, got 1");
  write_image(set + "/imagesTr/case_3_0001.nii.gz", 0);
  write_image(set + "/imagesTr/case_9.nii.gz", 0);
  EXPECT_EQ(refusal(set),
            set + "/imagesTr/case_9.nii.gz: its name must end in the number of its channel, _0000 to _0001");
  fs::remove(set + "/imagesTr/case_9.nii.gz");
  fs::remove(set + "/labelsTr/case_2.nii.gz");
  EXPECT_EQ(refusal(set), set + "/imagesTr/case_2_0000.nii.gz: has no mask " + set +
                              "/labelsTr/case_2.nii.gz (or .nii, .mha, .nrrd)");
  fs::remove(set + "/dataset.json");
  EXPECT_TRUE(refusal(set).starts_with(set + ": must hold volumes in a layout that is known"));
  // Two layouts at once, and masks in two folders.
  write_image(set + "/images/a.nii.gz", 0);
  write_mask(set + "/labels/a.nii.gz", {});
  write_image(set + "/b/b-t1.nii.gz", 0);
  EXPECT_EQ(refusal(set),
            set + ": must be a folder a case, or images/ beside masks, but has 'b' beside images/");
  fs::remove_all(set + "/b");
  fs::create_directories(set + "/masks");
  EXPECT_EQ(refusal(set), set + ": must have masks in labels/ or in masks/, but has both");
  // Folders a case that differ.
  write_image(folder / "cases/a/a-t1.nii", 0);
  write_image(folder / "cases/b/b-t2.nii", 0);
  EXPECT_EQ(refusal(folder / "cases"), (folder / "cases/b") + ": must have the channels of " +
                                           (folder / "cases/a") + ", 't1', got 't2'");
}

TEST(VolumeFolds, EachCaseIsForValidationOnce) {
  const Folder folder;
  make_nnunet(folder / "set");
  DataOptions options{raw(folder / "set", 2, 4)};
  std::get<DecathlonDataOptions>(options.set).fractions = {0.6, 0.2, 0.2};
  const Names test = names_of_cases(open_splits(options).test);
  ASSERT_EQ(test.size(), 1u);
  options.folds = 4;
  std::multiset<std::string> validated;
  for (options.fold = 0; options.fold < options.folds; ++options.fold) {
    const Splits splits = open_splits(options);
    EXPECT_EQ(names_of_cases(splits.test), test);
    EXPECT_EQ(splits.train->size(), 3);
    EXPECT_EQ(together(splits).size(), 5u);
    const Names valid = names_of_cases(splits.valid);
    validated.insert(valid.begin(), valid.end());
  }
  EXPECT_EQ(validated.size(), 4u);
  EXPECT_EQ(std::set(validated.begin(), validated.end()).size(), 4u);
  EXPECT_EQ(message_of<ConfigError>([&] { open_splits(options); }),
            "data.fold must be 0 .. 3, because data.folds is 4, got 4");
  options.folds = 5;
  EXPECT_EQ(message_of<ConfigError>([&] { open_splits(options); }),
            "data.folds must be at most 4, the samples for training and validation, got 5");
  // Data that are named by a path are used whole.
  EXPECT_EQ(open_splits(all_of(options, folder / "set")).test->size(), 5);
  EXPECT_EQ(message_of<ConfigError>([&] {
              open_splits({NbodyDataOptions{}, 5, 0});
            }).find("data.folds must be 0 for the data set nbody"),
            0u);
}

TEST(VolumeFolds, SplitsFinalJsonNamesThem) {
  const Folder folder;
  make_nnunet(folder / "set");
  write_text(
      folder / "set/splits_final.json",
      R"([{"train": ["case_0", "case_1"], "val": ["case_2"]}, {"train": ["case_2", "case_1"], "val": ["case_0"]}])");
  DataOptions options{raw(folder / "set", 2, 4), 2, 1};
  const Splits splits = open_splits(options);
  EXPECT_EQ(names_of_cases(splits.train), (Names{"case_1", "case_2"}));
  EXPECT_EQ(names_of_cases(splits.valid), Names{"case_0"});
  EXPECT_EQ(names_of_cases(splits.test), (Names{"case_3", "case_4"}));  // which no fold names
  options.folds = 5;
  EXPECT_EQ(message_of<ConfigError>([&] { open_splits(options); }),
            "data.folds must be 2, the folds of " + (folder / "set/splits_final.json") + ", got 5");
  EXPECT_EQ(listed_folds(options).count, 2);
  EXPECT_EQ(listed_folds(options).file, folder / "set/splits_final.json");
  EXPECT_EQ(listed_folds(DataOptions{NbodyDataOptions{}}).count, 0);
  options.folds = options.fold = 0;  // then it says nothing
  EXPECT_EQ(together(open_splits(options)).size(), 5u);
  options.folds = 2;
  write_text(folder / "set/splits_final.json",
             R"([{"train": ["case_0"], "val": ["case_9"]}, {"train": ["case_0"], "val": ["case_1"]}])");
  EXPECT_EQ(message_of<DataError>([&] { open_splits(options); }),
            (folder / "set/splits_final.json") +
                ": there must be one case 'case_9' with a mask, got 0 (one is called 'case_0')");
  EXPECT_EQ(message_of<DataError>([] { parse_volume_folds("{}", "s"); }),
            "s: must be a list of at least two folds, each {\"train\": [...], \"val\": [...]}, got 0");
  EXPECT_EQ(message_of<DataError>([] { parse_volume_folds(R"([{"train": ["a"], "val": ["a"]}])", "s"); }),
            "s: fold 0 has the case 'a' twice");
}

TEST(VolumeFolds, OddOnesAreToldOf) {
  const Folder folder;
  make_nnunet(folder / "set");
  const std::string where = folder / "set/splits_final.json";
  write_text(
      where,
      R"([{"train": ["case_0", "case_1"], "val": ["case_2"]}, {"train": ["case_1"], "val": ["case_2"]}])");
  DataOptions options{raw(folder / "set", 2, 4), 2, 1};
  auto& o = std::get<DecathlonDataOptions>(options.set);
  o.seed = 3;
  o.test = 1;
  EXPECT_EQ(
      open_splits(options).valid->schema().warnings,
      (Names{
          where + ": 1 of 3 cases are for validation in several folds: tables over all folds count them as "
                  "often, the first is 'case_2'",
          where +
              ": 2 of 3 cases are for validation in no fold: tables over all folds lack them, the first is "
              "'case_0'",
          "data.decathlon.test, data.decathlon.seed: without effect, because " + where +
              " says which cases the folds have"}));
  for (const std::string name : {"x", "y"}) {
    write_mask(folder / ("set/labelsTs/" + name + ".nii.gz"), {1});
  }
  EXPECT_EQ(
      open_splits(options).valid->schema().warnings.at(0),
      where + ": 2 of 5 training cases are in no fold and left out, as the folder has test cases of its own");
}

TEST(VolumeFolds, HeldOutCasesAreTheValidationSplit) {
  const Folder folder;
  make_nnunet(folder / "set");
  DecathlonDataOptions o = raw(folder / "set", 2, 4);
  const Names test = names_of_cases(open_set(o).test);
  ASSERT_FALSE(test.empty());
  o.held_out = {test[0]};
  const Splits splits = open_set(o);
  EXPECT_EQ(names_of_cases(splits.valid), o.held_out);
  EXPECT_EQ(together(splits).size(), 5u);  // each is in one split alone
  EXPECT_EQ(splits.test == nullptr ? 0 : splits.test->size(), std::ssize(test) - 1);
  o.held_out = {"case_7"};
  EXPECT_NE(message_of<DataError>([&] { open_set(o); }).find("there must be one case 'case_7'"),
            std::string::npos);
  EXPECT_NE(message_of<ConfigError>([&] { open_splits({o, 2, 0}); }).find("held_out must be []"),
            std::string::npos);
}

}  // namespace volume_layouts_test
}  // namespace weyl
