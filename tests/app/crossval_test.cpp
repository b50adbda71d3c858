// Cross-validation of small images: all folds are trained, measured once each, and predict together; a run that was killed goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace crossval_test {

namespace fs = std::filesystem;

/// 12 photographs of 24 x 36 and a net that learns nothing of note.
std::string place() {
  static const std::string folder = [] {
    const std::string made = scratch("crossval");
    std::ofstream(made + "/net.toml") << lesions_config << R"([model]
system = "unet"
[model.unet]
base = 2
stages = [{ stride = [1] }, {}]
[train]
steps = 4
batch = 3
save_every_steps = 1
[train.grids]
rotation = true
mirror = true
noise = true
)";
    EXPECT_EQ(weyl_program("data make lesions --out lesions count=12 height=48 width=72", made).code, 0);
    return made;
  }();
  return folder;
}

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(contents(csv));
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(csv_cells(line));
  }
  return rows;
}

Json whole() {
  static const Outcome out =
      weyl_program("crossval net.toml --folds 3 --out cv --json --no-pictures", place());
  EXPECT_EQ(out.code, 0) << out.err;
  return Json::parse(out.out, "stdout");
}

double number(const Json& json, const std::string& metric, const char* key = "value") {
  return json.find(metric)->find(key)->number_or(-1);
}

TEST(Crossval, MeasuresEverySampleOnceByTheModelThatHasNotSeenIt) {
  const Json json = whole();
  EXPECT_EQ(json.find("folds")->items().size(), 3U);
  const auto rows = rows_of(place() + "/cv/cases.csv");
  EXPECT_EQ(static_cast<double>(rows.size()) - 1, json.find("samples")->number_or(0));
  std::set<std::string> names;
  double dice = 0;
  const auto column = std::ranges::find(rows[0], "dice") - rows[0].begin();
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_TRUE(names.insert(rows[i][0]).second) << rows[i][0];
    EXPECT_TRUE(rows[i][1].starts_with("fold-")) << rows[i][1];
    dice += std::stod(rows[i][static_cast<size_t>(column)]);
  }
  EXPECT_NEAR(number(*json.find("metrics"), "dice"), dice / static_cast<double>(names.size()), 1e-12);
  double mean = 0;
  for (const Json& fold : json.find("folds")->items()) {
    mean += number(*fold.find("metrics"), "dice") / 3;
  }
  EXPECT_NEAR(number(*json.find("over_folds"), "dice", "mean"), mean, 1e-12);
  EXPECT_GT(number(*json.find("over_folds"), "dice", "deviation"), 0);
  // One run by itself says the same of its fold, by the weights that it ended with: its best are those that did best on this fold.
  EXPECT_EQ(json.find("folds")->items()[1].find("model")->string_or(""), "cv/fold-1/last");
  const Json one =
      Json::parse(weyl_program("eval cv/fold-1/last --split valid --json", place()).out, "stdout");
  EXPECT_EQ(number(*one.find("metrics"), "dice"),
            number(*json.find("folds")->items()[1].find("metrics"), "dice"));
}

TEST(Crossval, TrainsAFoldAsTrainDoes) {
  whole();
  const Outcome alone =
      weyl_program("train net.toml data.folds=3 --fold 1 --out alone --no-pictures", place());
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(contents(place() + "/alone/last/model.safetensors"),
            contents(place() + "/cv/fold-1/last/model.safetensors"));
  const Outcome without = weyl_program("train net.toml --fold 1 --out none", place());
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("--fold: needs data.folds"), std::string::npos) << without.err;
  EXPECT_FALSE(fs::exists(place() + "/none"));
}

TEST(Crossval, GoesOnWhereItWasKilled) {
  whole();
  const std::string command =
      " '" WEYL_BINARY_DIR "/bin/weyl' crossval net.toml --folds 3 --no-pictures --out ";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(shell(command + "timed", place()).code, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Killed at growing shares of the time that the whole takes on this machine, so that the first kill always hits; each
  // call goes on, and after 20 kills one is let through.
  int calls = 0;
  for (int code = 1; code != 0 && calls < 40; ++calls) {
    const std::string limit = std::to_string(calls < 20 ? seconds * (0.25 + 0.1 * calls) : 600);
    code = shell("timeout -s KILL " + limit + command + "killed", place()).code;
  }
  EXPECT_GT(calls, 1);
  for (const char* fold : {"fold-0", "fold-1", "fold-2"}) {
    EXPECT_EQ(contents(place() + "/killed/" + fold + "/last/model.safetensors"),
              contents(place() + "/cv/" + fold + "/last/model.safetensors"))
        << fold;
  }
  EXPECT_EQ(contents(place() + "/killed/cases.csv"), contents(place() + "/cv/cases.csv"));
}

/// A fold that is begun takes a new budget, as `train --resume` does; the others begin with it.
TEST(Crossval, TakesAnotherBudgetWhileNoFoldIsTrained) {
  whole();
  const std::string folder = place() + "/longer/";
  fs::create_directories(folder);
  fs::copy_file(place() + "/cv/crossval.toml", folder + "crossval.toml");
  fs::copy(place() + "/cv/fold-0", folder + "fold-0", fs::copy_options::recursive);
  fs::remove(folder + "fold-0/result.json");  // as one that was stopped: at step 4 of 4
  const Outcome changed =
      weyl_program("crossval net.toml train.steps=6 train.batch=2 --folds 3 --out longer", place());
  EXPECT_EQ(changed.code, 2);
  EXPECT_NE(changed.err.find("train.batch = 2, it was 3"), std::string::npos) << changed.err;
  const Outcome out =
      weyl_program("crossval net.toml train.steps=6 --folds 3 --out longer --json --no-pictures", place());
  ASSERT_EQ(out.code, 0) << out.err;
  EXPECT_NE(out.err.find("goes on from step 4"), std::string::npos) << out.err;
  for (const char* fold : {"fold-0", "fold-1", "fold-2"}) {
    const Json result = Json::parse(contents(folder + fold + "/result.json"), fold);
    EXPECT_EQ(result.find("steps")->number_or(0), 6) << fold;
  }
  // The record is that of the new one.
  EXPECT_EQ(
      weyl_program("crossval net.toml train.steps=6 --folds 3 --out longer --no-pictures", place()).code, 0);
  EXPECT_EQ(weyl_program("crossval net.toml --folds 3 --out longer", place()).code, 2);
}

TEST(Crossval, RefusesAnotherConfigAndOtherFolders) {
  whole();
  const Outcome other = weyl_program("crossval net.toml train.steps=5 --folds 3 --out cv", place());
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("all folds must have one budget, but it was 4 steps and is now 5 steps; by the "
                           "first are trained to their end: fold 0, 1, 2;"),
            std::string::npos)
      << other.err;
  const Outcome batch =
      weyl_program("crossval net.toml train.steps=5 train.batch=2 --folds 3 --out cv", place());
  EXPECT_EQ(batch.code, 2) << batch.err;
  const Outcome folds = weyl_program("crossval net.toml --folds 4 --out cv", place());
  EXPECT_EQ(folds.code, 2) << folds.err;
  EXPECT_EQ(weyl_program("crossval net.toml --out lesions", place()).code, 2);
  fs::create_directories(place() + "/planted");
  fs::copy_file(place() + "/cv/crossval.toml", place() + "/planted/crossval.toml",
                fs::copy_options::overwrite_existing);
  fs::remove(place() + "/planted/crossval.json");
  fs::create_symlink(place() + "/net.toml", place() + "/planted/crossval.json");
  EXPECT_EQ(weyl_program("crossval net.toml --folds 3 --out planted", place()).code, 3);
  const Outcome many = weyl_program("crossval net.toml --folds 40 --out many", place());
  EXPECT_EQ(many.code, 2) << many.err;
  // Nothing was trained there: another number is judged by itself.
  const Outcome more = weyl_program("crossval net.toml --folds 41 --out many", place());
  EXPECT_EQ(more.code, 2);
  EXPECT_NE(more.err.find("data.folds must be at most"), std::string::npos) << more.err;
}

TEST(Crossval, AllFoldsPredictTogether) {
  whole();
  fs::create_directories(place() + "/new");
  fs::copy_file(place() + "/lesions/PH2 Dataset images/IMD001/IMD001_Dermoscopic_Image/IMD001.bmp",
                place() + "/new/IMD001.bmp", fs::copy_options::overwrite_existing);
  const std::string more =
      "task.segmentation.test_time_mirrors=true task.segmentation.largest_component=true "
      "task.segmentation.window.size=[16]";
  for (const std::string& keys : {std::string(), more}) {
    const Outcome folder = weyl_program("predict cv new " + keys + " --out together --json --force", place());
    ASSERT_EQ(folder.code, 0) << folder.err;
    EXPECT_GT(Json::parse(folder.out, "stdout").find("peak_mb")->number_or(0), 1);
    const Outcome runs = weyl_program(
        "predict cv/fold-0/last cv/fold-1/last cv/fold-2/last new " + keys + " --out apart --force", place());
    ASSERT_EQ(runs.code, 0) << runs.err;
    EXPECT_EQ(contents(place() + "/together/IMD001.png"), contents(place() + "/apart/IMD001.png"));
  }
  const Outcome learned = weyl_program("predict cv new task.segmentation.dice=1 --out no", place());
  EXPECT_EQ(learned.code, 2);
  EXPECT_NE(learned.err.find("must be how its task predicts"), std::string::npos) << learned.err;
  fs::create_directories(place() + "/begun");
  fs::copy_file(place() + "/cv/crossval.toml", place() + "/begun/crossval.toml",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(weyl_program("predict begun new --out no", place()).code, 3);
}

std::vector<double> probabilities(const std::string& models) {
  const Outcome out = weyl_program("predict " + models + " new --out p.safetensors --force", place());
  EXPECT_EQ(out.code, 0) << out.err;
  const SafetensorsFile file(place() + "/p.safetensors");
  const std::vector<std::byte> bytes = file.bytes("probabilities");
  const auto values = [&]<class T>(T) {
    std::vector<T> read(bytes.size() / sizeof(T));
    file.read("probabilities", std::as_writable_bytes(std::span(read)));
    return std::vector<double>(read.begin(), read.end());
  };
  return file.entry("probabilities").type == ElementType::f64 ? values(double{}) : values(float{});
}

TEST(Crossval, AllFoldsTogetherAreTheMeanOfEach) {
  whole();
  fs::create_directories(place() + "/new");
  fs::copy_file(place() + "/lesions/PH2 Dataset images/IMD002/IMD002_Dermoscopic_Image/IMD002.bmp",
                place() + "/new/IMD001.bmp", fs::copy_options::overwrite_existing);
  const auto all = probabilities("cv");
  std::vector<double> mean(all.size());
  double farthest = 0;
  for (const char* fold : {"cv/fold-0/last", "cv/fold-1/last", "cv/fold-2/last"}) {
    const auto one = probabilities(fold);
    ASSERT_EQ(one.size(), all.size());
    for (size_t i = 0; i < one.size(); ++i) {
      mean[i] += one[i] / 3;
      farthest = std::max(farthest, std::abs(one[i] - all[i]));
    }
  }
  ASSERT_FALSE(all.empty());
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_NEAR(all[i], mean[i], 1e-6) << i;
  }
  EXPECT_GT(farthest, 1e-4);  // or nothing was tried
}

/// A fold that was trained on what another fold measures would be measured by heart.
TEST(Crossval, RefusesDataThatHaveChanged) {
  whole();
  fs::copy(place() + "/cv", place() + "/changed", fs::copy_options::recursive);
  const std::string command = "crossval net.toml --folds 3 --out changed --json --no-pictures";
  const std::string first = contents(place() + "/changed/cases.csv");
  const std::string images = place() + "/lesions/PH2 Dataset images/";
  const auto renamed = [&](const std::string& from, const std::string& to) {
    for (const std::string& inner : {std::string("_Dermoscopic_Image/"), std::string("_lesion/")}) {
      fs::rename(images + from + "/" + from + inner, images + from + "/" + to + inner);
    }
    for (const auto& [folder, ending] :
         {std::pair("_Dermoscopic_Image/", ".bmp"), {"_lesion/", "_lesion.bmp"}}) {
      fs::rename(images + from + "/" + to + folder + from + ending,
                 images + from + "/" + to + folder + to + ending);
    }
    fs::rename(images + from, images + to);
  };
  renamed("IMD003", "IMD999");  // which moves all that follow it to other places of the permutation
  for (const bool trains : {false, true}) {
    if (trains) {
      fs::remove_all(place() + "/changed/fold-2");
    }
    const Outcome refused = weyl_program(command, place());
    EXPECT_EQ(refused.code, 3) << refused.err;
    EXPECT_NE(refused.err.find("changed/fold-0: data must be those that its fold was trained on"),
              std::string::npos)
        << refused.err;
    EXPECT_EQ(fs::exists(place() + "/changed/fold-2"), !trains);  // nothing was trained on other data
  }
  renamed("IMD999", "IMD003");
  const Outcome again = weyl_program(command, place());
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(contents(place() + "/changed/cases.csv"), first);
}

TEST(Crossval, IsInterruptedWhileItMeasures) {
  whole();
  fs::copy(place() + "/cv", place() + "/measured", fs::copy_options::recursive);
  fs::remove(place() + "/measured/crossval.json");
  const std::string command = "'" WEYL_BINARY_DIR "/bin/weyl' crossval net.toml --folds 3 --out measured";
  // The signal comes as soon as the verb catches it, which is before it measures: bit 9 of SigCgt is SIGUSR1, which the
  // program itself does not catch and the verb catches after SIGINT.
  const Outcome out = shell(
      "bash -c \"set -m; " + command +
          " & p=\\$!; while kill -0 \\$p && (( (0x\\$(sed -n 's/^SigCgt:\t//p' /proc/\\$p/status) & 512) == 0 )); "
          "do sleep 0.01; done; kill -INT \\$p; wait \\$p\"",
      place());
  EXPECT_EQ(out.code, 5) << out.err;
  EXPECT_NE(out.err.find("the same command measures them"), std::string::npos) << out.err;
  EXPECT_FALSE(fs::exists(place() + "/measured/crossval.json"));
  EXPECT_EQ(shell(command, place()).code, 0);
  EXPECT_EQ(contents(place() + "/measured/cases.csv"), contents(place() + "/cv/cases.csv"));
}

TEST(Crossval, WarnsWhereAFoldEndsByItsOwnSamples) {
  const Outcome out = weyl_program(
      "crossval net.toml train.patience=1 train.steps=1 --folds 2 --out patient --no-pictures", place());
  EXPECT_EQ(out.code, 0) << out.err;
  EXPECT_NE(out.err.find("train.patience ends the training"), std::string::npos) << out.err;
}

/// What had no effect in training is no reason to refuse another way to predict.
TEST(Crossval, EvalWarnsOfKeysWithoutEffectThatItWasGiven) {
  whole();
  fs::create_directories(place() + "/new");
  fs::copy_file(place() + "/lesions/PH2 Dataset images/IMD002/IMD002_Dermoscopic_Image/IMD002.bmp",
                place() + "/new/IMD001.bmp", fs::copy_options::overwrite_existing);
  const Outcome trained = weyl_program(
      "train net.toml task.segmentation.focal_gamma=3 train.steps=1 --out gamma --no-pictures", place());
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("focal_gamma"), std::string::npos) << trained.err;
  const std::string keys = " task.segmentation.largest_component=true task.segmentation.window.overlap=0.25";
  for (const std::string verb : {"eval gamma --split valid", "predict gamma new --out p --force"}) {
    const Outcome out = weyl_program(verb + keys, place());
    EXPECT_EQ(out.code, 0) << out.err;
    EXPECT_EQ(out.err.find("focal_gamma"), std::string::npos) << out.err;
    EXPECT_NE(out.err.find("window.overlap = 0.25 has no effect"), std::string::npos) << out.err;
  }
}

TEST(Crossval, EvalWritesATableAndPicturesOfCases) {
  whole();
  const Outcome out = weyl_program("eval cv/fold-0 --split valid --out cases --json", place());
  ASSERT_EQ(out.code, 0) << out.err;
  const auto rows = rows_of(place() + "/cases/cases.csv");
  EXPECT_EQ(static_cast<double>(rows.size()) - 1,
            Json::parse(out.out, "stdout").find("samples")->number_or(0));
  for (const char* name : {"case", "dice", "dice_lesion", "surface_dice_lesion"}) {
    EXPECT_NE(std::ranges::find(rows[0], name), rows[0].end()) << name;
  }
  const Outcome plain = weyl_program("eval cv/fold-0 --split valid --json", place());
  EXPECT_EQ(number(*Json::parse(out.out, "stdout").find("metrics"), "dice"),
            number(*Json::parse(plain.out, "stdout").find("metrics"), "dice"));
  if (out.err.find("no pictures") == std::string::npos) {  // gnuplot is optional
    for (const char* name : {"worst.png", "median.png", "best.png"}) {
      EXPECT_TRUE(fs::exists(place() + "/cases/" + name)) << name;
    }
  }
  EXPECT_EQ(weyl_program("eval cv/fold-0 --split valid --out cases", place()).code, 2);
  EXPECT_EQ(weyl_program("eval cv/fold-0 --split valid --out cases --force", place()).code, 0);
}

}  // namespace crossval_test
}  // namespace weyl
