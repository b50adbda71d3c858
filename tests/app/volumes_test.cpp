// Volumes whose files say more than masks: folds of their own, and voxels that nobody has labelled.
#include <algorithm>

#include "tests/app/new_config.h"
#include "weyl/core/json.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/text_volumes.h"

namespace weyl {
namespace volumes_test {

/// Five phantoms with two folds of their own, and the config that is written for them.
const std::string& place() {
  static const std::string folder = [] {
    const std::string made = scratch("volumes");
    EXPECT_EQ(
        weyl_program("data make phantoms --out set count=5 size='[12,12,12]' spacing='[13,13,13]'", made)
            .code,
        0);
    put(made + "/set/splits_final.json",
        R"([{"train": ["PHANTOM_001", "PHANTOM_002", "PHANTOM_003"], "val": ["PHANTOM_004", "PHANTOM_005"]},
            {"train": ["PHANTOM_004", "PHANTOM_005", "PHANTOM_003"], "val": ["PHANTOM_001", "PHANTOM_002"]}])");
    const Outcome config = weyl_program("config new --data set --system unet --out net.toml", made);
    EXPECT_EQ(config.code, 0) << config.err;
    return made;
  }();
  return folder;
}

constexpr const char* one_step = " net.toml train.steps=1 train.epochs=false --no-pictures --threads 1 ";

TEST(Volumes, TheConfigOfDataWithFoldsTrainsThemStrictly) {
  const std::string config = contents(place() + "/net.toml");
  has(config, "folds = 2");
  has_not(config, "\nvalid = ");
  for (const std::string more :
       {"--out first", "--fold 1 --out second", "data.folds=0 --fold 1 --out asked"}) {
    const Outcome out = weyl_program("train --strict" + std::string(one_step) + more, place());
    EXPECT_EQ(out.code, 0) << more << out.err;
    has_not(out.err, "without effect");
    has_not(out.err, "no effect");
  }
  EXPECT_EQ(weyl_program("config check net.toml --strict", place()).code, 0);
}

TEST(Volumes, CrossValidationTakesTheFoldsOfTheData) {
  const Outcome out =
      weyl_program("crossval" + std::string(one_step) + "data.folds=0 --out cv --json", place());
  ASSERT_EQ(out.code, 0) << out.err;
  has(out.err, "2 folds, those of set/splits_final.json");
  EXPECT_EQ(Json::parse(out.out, "stdout").find("folds")->items().size(), 2u);
  for (const auto& [asked, key] : {std::pair{"--folds 3", "--folds"}, {"data.folds=3", "data.folds"}}) {
    const Outcome other = weyl_program("crossval" + std::string(one_step) + asked + " --out no", place());
    EXPECT_EQ(other.code, 2);
    EXPECT_EQ(other.err,
              "weyl: " + std::string(key) + " must be 2, the folds of set/splits_final.json, got 3\n");
    EXPECT_FALSE(fs::exists(place() + "/no"));
  }
}

TEST(Volumes, WhatOnlyMeasuresHasNoEffectOnPredictions) {
  ASSERT_EQ(weyl_program("train" + std::string(one_step) + "--out measured", place()).code, 0);
  const std::string of = "measured task.segmentation.tolerance=3 task.segmentation.hd95=pooled";
  const Outcome predicted = weyl_program("predict " + of + " set/imagesTr --out masks", place());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  has(predicted.err, "warning: task.segmentation.tolerance=3: has no effect on predictions");
  has(predicted.err, "warning: task.segmentation.hd95=pooled: has no effect on predictions");
  const Outcome measured = weyl_program("eval " + of + " --split valid", place());
  EXPECT_EQ(measured.code, 0) << measured.err;
  has_not(measured.err, "no effect");
}

TEST(Volumes, AnIgnoredLabelIsNeitherLearnedNorPredicted) {
  fs::copy(place() + "/set", place() + "/partly", fs::copy_options::recursive);
  std::string index = contents(place() + "/partly/dataset.json");
  const std::string name = "enhancing tumor";
  index.replace(index.rfind("\"" + name + "\""), name.size() + 2, "\"ignore\"");
  put(place() + "/partly/dataset.json", index);
  const Outcome config = weyl_program("config new --data partly --system unet --out net3.toml", place());
  ASSERT_EQ(config.code, 0) << config.err;
  const std::string written = contents(place() + "/net3.toml");
  has(written, "classes = 3");
  has(written, "Voxels of the label `ignore` of dataset.json, 3, count in neither loss nor metrics.");
  const Outcome out = weyl_program(
      "train net3.toml train.steps=1 train.epochs=false --threads 1 --strict --out partial", place());
  ASSERT_EQ(out.code, 0) << out.err;
  const Outcome predicted = weyl_program("predict partial partly/imagesTr --out partial-masks", place());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(place() + "/partial-masks")) {
    const std::vector<float> values = values_of(read_volume(entry.path().string()));
    EXPECT_LE(*std::ranges::max_element(values), 2);
    ++files;
  }
  EXPECT_EQ(files, 5);
  EXPECT_EQ(weyl_program("data inspect partly --json", place()).code, 0);
}

/// A mask of 6 x 5 x 4 voxels of 1 x 2 x 3 mm: `label` in a box from `begin` to `end`, 0 around it.
void write_box(const std::string& path, uint8_t label, std::array<int64_t, 3> begin,
               std::array<int64_t, 3> end, double first = 0) {
  NiftiHeader header{.type = ElementType::u8, .shape = {6, 5, 4}};
  header.geometry.sform_code = 1;
  header.geometry.srow = {1, 0, 0, first, 0, 2, 0, 0, 0, 0, 3, 0};
  header.geometry.pixdim = {1, 1, 2, 3, 1, 1, 1, 1};
  std::vector<uint8_t> values(6 * 5 * 4);
  for (int64_t z = begin[2]; z < end[2]; ++z) {
    for (int64_t y = begin[1]; y < end[1]; ++y) {
      for (int64_t x = begin[0]; x < end[0]; ++x) {
        values[static_cast<size_t>(x + 6 * (y + 5 * z))] = label;
      }
    }
  }
  write_nifti(path, header, std::as_bytes(std::span(values)));
}

double metric_of(const Json& said, const std::string& name) {
  const Json* found = said.find("metrics")->find(name);
  return found != nullptr ? found->find("value")->number_or(-1) : -1;
}

TEST(Volumes, MasksOfAnyProgramAreMeasuredOnTheirOwnGrid) {
  const std::string folder = scratch("mask-folders");
  fs::create_directories(folder + "/truth");
  fs::create_directories(folder + "/found");
  // One voxel thicker along x: 8 of 8 and 12 voxels, HD95 one mm.
  write_box(folder + "/truth/a.nii.gz", 4, {1, 1, 1}, {3, 3, 3});
  write_box(folder + "/found/a.nii.gz", 4, {1, 1, 1}, {4, 3, 3});
  write_box(folder + "/found/a_probabilities.nii.gz", 1, {0, 0, 0}, {6, 5, 4});
  // Nothing found, so that no distance is defined.
  write_box(folder + "/truth/b.nii", 4, {0, 0, 0}, {1, 1, 1});
  write_box(folder + "/found/b.nii", 0, {0, 0, 0}, {1, 1, 1});
  write_box(folder + "/truth/c.nii", 4, {0, 0, 0}, {1, 1, 1});
  const Outcome out = weyl_program("eval found --data truth --json --out cases", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  has(out.err, "truth: 1 of 3 true masks have no prediction and are left out: c");
  const Json said = Json::parse(out.out, "stdout");
  EXPECT_EQ(said.find("samples")->number_or(0), 2);
  EXPECT_DOUBLE_EQ(metric_of(said, "dice_4"), (16. / 20 + 0) / 2);
  EXPECT_DOUBLE_EQ(metric_of(said, "dice_pooled_4"), 16. / 21);
  EXPECT_DOUBLE_EQ(metric_of(said, "hd95_4"), 1);
  EXPECT_EQ(metric_of(said, "hd95_infinite"), 1);
  EXPECT_DOUBLE_EQ(metric_of(said, "volume_error"), (4 * 6e-3 + 6e-3) / 2);  // ml
  EXPECT_EQ(said.find("metrics")->find("cross_entropy"), nullptr);
  const std::string cases = contents(folder + "/cases/cases.csv");
  has(cases, "\na,");
  has(cases, "\nb,");
  has_not(cases, "a_probabilities");
  // The same voxels stored from right to left are on the same grid.
  Nifti turned = read_volume(folder + "/found/a.nii.gz");
  for (size_t line = 0; line < turned.bytes.size(); line += 6) {
    std::reverse(turned.bytes.begin() + line, turned.bytes.begin() + line + 6);
  }
  turned.header.geometry.srow[0] = -1;
  turned.header.geometry.srow[3] = 5;
  write_nifti(folder + "/turned.nii.gz", turned.header, turned.bytes);
  const Outcome back = weyl_program("eval turned.nii.gz --data truth/a.nii.gz --json", folder);
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_DOUBLE_EQ(metric_of(Json::parse(back.out, "stdout"), "dice"), 0.8);
  // Floats hold numbers to rounding, whether an index names the classes or not.
  Nifti rounded = read_volume(folder + "/found/a.nii.gz");
  std::vector<float> values;
  for (const std::byte label : rounded.bytes) {
    values.push_back(static_cast<float>(label) * 1.0001F);
  }
  rounded.header.type = ElementType::f32;
  write_nifti(folder + "/rounded.nii.gz", rounded.header, std::as_bytes(std::span(values)));
  const Outcome floats = weyl_program("eval rounded.nii.gz --data truth/a.nii.gz --json", folder);
  ASSERT_EQ(floats.code, 0) << floats.err;
  EXPECT_DOUBLE_EQ(metric_of(Json::parse(floats.out, "stdout"), "dice_4"), 0.8);
  // One file against one, whatever they are called; a name for the class.
  const Outcome one = weyl_program(
      "eval found/a.nii.gz --data truth/a.nii.gz 'task.segmentation.names=[\"rest\", \"liver\"]' --json",
      folder);
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_DOUBLE_EQ(metric_of(Json::parse(one.out, "stdout"), "dice_liver"), 0.8);
}

/// nnU-Net writes its dataset.json beside what it predicts, and labels stand without their images where somebody sends them.
TEST(Volumes, MasksAreCalledWhatTheirIndexSays) {
  const std::string folder = scratch("mask-index");
  fs::create_directories(folder + "/set/labelsTs");
  fs::create_directories(folder + "/found");
  write_box(folder + "/set/labelsTs/a.nii.gz", 4, {1, 1, 1}, {3, 3, 3});
  write_box(folder + "/found/a.nii.gz", 4, {1, 1, 1}, {4, 3, 3});
  const std::string index = R"({"channel_names": {"0": "CT"}, "numTraining": 1, "file_ending": ".nii.gz",
    "labels": {"background": 0, "liver": 1, "tumour": 4}})";
  const auto dice = [&](const std::string& more, const std::string& name) {
    const Outcome out = weyl_program("eval found --data set/labelsTs --json " + more, folder);
    EXPECT_EQ(out.code, 0) << out.err;
    return metric_of(Json::parse(out.out, "stdout"), "dice_" + name);
  };
  EXPECT_DOUBLE_EQ(dice("", "4"), 0.8);  // nobody knows a name
  // Regions go by the numbers of the files.
  EXPECT_DOUBLE_EQ(dice("'task.segmentation.regions=[{name=\"whole\", labels=[4]}]'", "whole"), 0.8);
  const Outcome none = weyl_program(
      "eval found --data set/labelsTs 'task.segmentation.regions=[{name=\"whole\", labels=[1]}]'", folder);
  EXPECT_EQ(none.code, 2);
  has(none.err, "regions[0].labels: must be numbers of the masks' classes, got 1");
  for (const char* place : {"/found", "/set"}) {
    const std::string path = folder + place + "/dataset.json";
    std::ofstream(path) << index;
    EXPECT_DOUBLE_EQ(dice("", "tumour"), 0.8) << place;
    EXPECT_DOUBLE_EQ(dice("", "liver"), 1) << place;
    fs::remove(path);
  }
  std::ofstream(folder + "/set/dataset.json") << index.substr(0, 60);
  EXPECT_EQ(weyl_program("eval found --data set/labelsTs", folder).code, 3);
}

TEST(Volumes, MasksThatCannotBeComparedAreRefused) {
  const std::string folder = scratch("mask-refusals");
  for (const char* made : {"/truth", "/found", "/other", "/moved", "/empty"}) {
    fs::create_directories(folder + made);
  }
  write_box(folder + "/truth/a.nii", 1, {1, 1, 1}, {3, 3, 3});
  write_box(folder + "/found/a.nii", 1, {1, 1, 1}, {3, 3, 3});
  write_box(folder + "/other/b.nii", 1, {1, 1, 1}, {3, 3, 3});
  write_box(folder + "/moved/a.nii", 1, {1, 1, 1}, {3, 3, 3}, 0.5);
  write_box(folder + "/empty/a.nii", 0, {1, 1, 1}, {3, 3, 3});
  struct Refused {
    std::string arguments, says;
    int code;
  };
  for (const Refused& r : std::vector<Refused>{
           {"found", "a mask is measured against the true one: add --data TRUTH", 2},
           {"found --data nowhere", "must be a mask, a folder of masks or a set of volumes with masks", 3},
           {"other --data truth", "case 'b' must have a true mask in truth", 3},
           {"moved --data truth", "by its affine it stands 0.5 voxels from the true mask truth/a.nii", 3},
           {"empty --data empty", "no mask, true or predicted, has another class than the background", 3},
           {"found --data truth --split test", "--data TRUTH goes alone with it", 2},
           {"found --data truth task.segmentation.window.size=[4]", "of masks must be how they are measured",
            2},
           {"found --data truth 'task.segmentation.names=[\"one\"]'", "task.segmentation.names: must be 2",
            2}}) {
    const Outcome outcome = weyl_program("eval " + r.arguments, folder);
    EXPECT_EQ(outcome.code, r.code) << r.arguments << "\n" << outcome.err;
    has(outcome.err, r.says);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  // A header that lost its place, on demand; and what a model alone would heed.
  const Outcome out =
      weyl_program("eval moved --data truth --as-is --batch 2 --dtype float64 --json", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  has(out.err, "--dtype, --batch have no effect on a mask");
  EXPECT_DOUBLE_EQ(metric_of(Json::parse(out.out, "stdout"), "dice"), 1);
}

/// Where nothing is resampled, masks that were written have the scores that the model has.
TEST(Volumes, WrittenMasksHaveTheScoresOfTheirModel) {
  ASSERT_EQ(weyl_program("train" + std::string(one_step) + "--out scored", place()).code, 0);
  ASSERT_EQ(weyl_program("predict scored set/imagesTr --out scored-masks", place()).code, 0);
  const Outcome masks = weyl_program("eval scored-masks --data set --json", place());
  ASSERT_EQ(masks.code, 0) << masks.err;
  const Outcome model = weyl_program("eval scored --data set --json", place());
  ASSERT_EQ(model.code, 0) << model.err;
  const Json of_masks = Json::parse(masks.out, "stdout"), of_model = Json::parse(model.out, "stdout");
  EXPECT_EQ(of_masks.find("samples")->number_or(0), 5);
  for (const std::string name : {"dice", "iou", "dice_pooled", "surface_dice", "volume_error", "accuracy"}) {
    EXPECT_GE(metric_of(of_model, name), 0) << name;
    EXPECT_DOUBLE_EQ(metric_of(of_masks, name), metric_of(of_model, name)) << name;
  }
}

}  // namespace volumes_test
}  // namespace weyl
