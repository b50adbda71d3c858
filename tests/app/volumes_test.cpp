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

}  // namespace volumes_test
}  // namespace weyl
