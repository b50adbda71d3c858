// What `weyl train --resume` meets: other data, other machines, another budget, and a run that is at its end.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/train/resume.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace resume_test {

namespace fs = std::filesystem;

TEST_F(ResumeTest, OtherDataAreRefusedUnlessTheUserSaysSo) {
  train_until("run", 4);
  TrainRequest longer;
  longer.changes = {"train.epochs=7"};
  const auto refusal = [&](const TrainRequest& request = {}) {
    Notes notes;
    try {
      go_on("run", notes, request);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  make(2);
  const std::string before = read_if_there(folder_ / "run/environment.json"),
                    config = read_if_there(folder_ / "run/config.toml");
  EXPECT_TRUE(has(refusal(),
                  "run: data must be those that the run was trained on, but its train split holds other "
                  "values, its valid split holds other values, its test split holds other values "
                  "(--data-changed goes on all the same)"))
      << refusal();
  make(1, 16);  // two batches an epoch, both of which the second epoch has seen
  EXPECT_TRUE(has(refusal(), "its train split has 16 samples, it had 40")) << refusal();
  EXPECT_TRUE(has(refusal(longer), "its train split has 16 samples, it had 40")) << refusal(longer);
  EXPECT_EQ(read_if_there(folder_ / "run/environment.json"), before);
  EXPECT_EQ(read_if_there(folder_ / "run/config.toml"), config);
  EXPECT_EQ(read_checkpoint(folder_ / "run").state.step, 4);
  Notes notes;
  TrainRequest request;
  request.data_changed = true;
  EXPECT_EQ(go_on("run", notes, request).ending, Ending::finished);
  EXPECT_TRUE(has(notes.all(), "the data are not those that the run began with: its train split has 16"))
      << notes.all();
  EXPECT_NE(refusal().find("accepted"), std::string::npos);  // these are its data now
}

// The C++ runtime ended the process when so many could not be started.
TEST_F(ResumeTest, ANumberOfThreadsThatNobodyHasIsRefused) {
  train_until("run", 4);
  const std::string file = folder_ / "run/environment.json";
  const Json whole = Json::parse(read_if_there(file), file);
  const int before = at::get_num_threads();
  for (const double number : {2147483647.0, 0.0, 1.5}) {
    Json changed = whole;
    changed.set("threads", number);
    std::ofstream(file) << changed.dump();
    Notes notes;
    try {
      go_on("run", notes);
      ADD_FAILURE() << number << " was taken";
    } catch (const DataError& error) {
      EXPECT_TRUE(has(error.what(), file + ": threads must be a whole number from 1 to 1024, got "))
          << error.what();
    }
    EXPECT_EQ(at::get_num_threads(), before);
    TrainRequest request;
    request.threads = before;
    fs::remove_all(folder_ / "copy");
    fs::copy(folder_ / "run", folder_ / "copy", fs::copy_options::recursive);
    EXPECT_EQ(go_on("copy", notes, request).ending, Ending::finished);
  }
}

TEST_F(ResumeTest, DataMayMoveAndARunWithoutAFingerprintGetsOne) {
  train_through("through");
  train_until("run", 4);
  const std::string file = folder_ / "run/environment.json";
  const Json whole = Json::parse(read_if_there(file), file);
  Json old = Json::object();  // as version 0.1 wrote it
  for (const auto& [key, value] : whole.members()) {
    if (key == "weyl" || key == "torch" || key == "threads" || key == "folder") {
      old.set(key, value);
    }
  }
  std::ofstream(file) << old.dump();
  Notes notes;
  go_on("run", notes);
  EXPECT_FALSE(has(notes.all(), "machine")) << notes.all();
  EXPECT_FALSE(has(notes.all(), "data")) << notes.all();
  expect_same_bits(folder_ / "through", folder_ / "run");
  EXPECT_EQ(Json::parse(read_if_there(file), file).find("data")->dump(), whole.find("data")->dump());
}

TEST_F(ResumeTest, OnlyTheBudgetMayChangeAndItIsKept) {
  recipe_.train.schedule = {.name = ScheduleLaw::cosine};
  train_until("run", 4);
  TrainRequest other;
  other.changes = {"train.batch=4"};
  Notes refused;
  EXPECT_THROW(go_on("run", refused, other), ConfigError);
  TrainRequest longer;
  longer.changes = {"train.epochs=5"};
  longer.stop = stop_after(1);
  Notes notes;
  EXPECT_EQ(go_on("run", notes, longer).steps, 5);
  EXPECT_TRUE(has(notes.all(),
                  "the budget is now 5 epochs, it was 3 epochs; the cosine schedule is stretched over it"))
      << notes.all();
  EXPECT_EQ(read_recipe(folder_ / "run/config.toml").train.epochs, 5);
  Notes plain;
  const TrainResult result = go_on("run", plain);
  EXPECT_EQ(result.steps, 15);
  EXPECT_EQ(plain.all(), "");
  // Also when it was ended before the first checkpoint that knows it.
  fs::remove_all(folder_ / "run");
  train_until("run", 4);
  longer.stop = stop_after(0);
  go_on("run", notes, longer);
  EXPECT_EQ(read_checkpoint(folder_ / "run").recipe.train.epochs, 3);
  EXPECT_EQ(go_on("run", plain).steps, 15);
  // A value that is none is the user's.
  other.changes = {"train.epochs=0"};
  EXPECT_THROW(go_on("run", refused, other), ConfigError);
}

TEST_F(ResumeTest, AFinishedRunSaysSoAndCanTrainOn) {
  train_through("run");
  const auto before = bits_of(folder_ / "run");
  Notes notes;
  EXPECT_EQ(go_on("run", notes).ending, Ending::finished);
  EXPECT_EQ(notes.all(), (folder_ / "run") +
                             " is finished: step 9, 3 of 3 epochs; train on with, say: weyl train --resume " +
                             (folder_ / "run") + " train.epochs=6\n");
  EXPECT_EQ(before, bits_of(folder_ / "run"));
  TrainRequest longer;
  longer.changes = {"train.epochs=4"};
  Notes on;
  EXPECT_EQ(go_on("run", on, longer).steps, 12);
  EXPECT_FALSE(has(on.all(), "finished")) << on.all();
}

TEST_F(ResumeTest, ARunWithoutACheckpointStartsFromItsBeginning) {
  train_through("through");
  fs::create_directory(folder_ / "early");
  fs::copy(folder_ / "through/config.toml", folder_ / "early/config.toml");
  std::ofstream(folder_ / "early/environment.json.4194305-0.tmp") << "{";
  Notes notes;
  EXPECT_EQ(go_on("early", notes).steps, 9);
  EXPECT_TRUE(has(notes.all(), "has no checkpoint yet: the run starts from its beginning")) << notes.all();
  EXPECT_FALSE(has(notes.all(), "environment.json")) << notes.all();
  expect_same_bits(folder_ / "through", folder_ / "early");
  EXPECT_FALSE(fs::exists(folder_ / "early/environment.json.4194305-0.tmp"));
  EXPECT_FALSE(read_if_there(folder_ / "early/environment.json").empty());
}

TEST_F(ResumeTest, ADifferenceOfTheSettingsIsOneWarning) {
  train_until("run", 4);
  ::setenv("MKL_CBWR", "COMPATIBLE", 1);
  Notes notes;
  TrainRequest request;
  request.stop = stop_after(1);
  go_on("run", notes, request);
  ::unsetenv("MKL_CBWR");
  ASSERT_EQ(notes.lines.size(), 1u) << notes.all();
  EXPECT_TRUE(has(notes.lines[0], "its bits will differ: MKL_CBWR \"\" -> \"COMPATIBLE\"")) << notes.lines[0];
}

TEST_F(ResumeTest, ABudgetOfFlopsMayBeGivenAndTaken) {
  train_until("run", 4);
  const double each = load_model(folder_ / "run").model->work_of_token().nominal;
  const auto budget = [](const char* key, double flops) {
    return std::string(key) + "=" + exact_text(flops);
  };
  Notes notes;
  TrainRequest request;
  // An epoch has three steps of 16, 16 and 8 graphs of five bodies.
  request.changes = {"train.epochs=false", budget("train.flops", each * 5 * 85)};
  const TrainResult result = go_on("run", notes, request);
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_GE(result.nominal_flops, each * 5 * 85);
  EXPECT_LT(result.nominal_flops, each * 5 * (85 + 16));
  EXPECT_DOUBLE_EQ(result.nominal_flops, each * static_cast<double>(result.tokens));
  EXPECT_TRUE(has(notes.all(), "FLOPs, it was 3 epochs")) << notes.all();
  Notes again;
  EXPECT_EQ(go_on("run", again).steps, result.steps);
  EXPECT_TRUE(has(again.all(), " FLOPs; train on with, say: weyl train --resume ")) << again.all();
  EXPECT_TRUE(has(again.all(), " train.flops=")) << again.all();
}

}  // namespace resume_test
}  // namespace weyl
