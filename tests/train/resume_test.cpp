// What `weyl train --resume` meets: damage, changes, litter, and a run that is at its end.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/makers/nbody.h"
#include "weyl/train/train.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

struct Notes : TrainObserver {
  std::vector<std::string> lines;
  int64_t resumed_step = -1;
  void noted(const std::string& line) override { lines.push_back(line); }
  void started(const TrainStart& start) override { resumed_step = start.resumed_step; }
  std::string all() const {
    std::string text;
    for (const std::string& line : lines) {
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      text += line + "\n";
    }
    return text;
  }
};

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() : recipe_(small_recipe()) {
    recipe_.data.set = NbodyDataOptions{.path = folder_ / "data"};
    recipe_.train.epochs = 3;
    recipe_.train.log_every_steps = 1;
    make(1);
  }
  void make(uint64_t seed, int64_t train = 40) {
    NbodyMakerOptions maker;
    maker.train = train;
    maker.valid = maker.test = 10;
    maker.threads = 1;
    maker.seed = static_cast<int64_t>(seed);
    fs::remove_all(folder_ / "data");
    make_nbody(maker, folder_ / "data");
  }
  // 9 steps in all; stopped after so many.
  void train_until(const std::string& run, int64_t steps) {
    TrainRequest request;
    request.out = folder_ / run;
    request.stop = stop_after(steps);
    EXPECT_EQ(train(recipe_, request).ending, Ending::interrupted);
  }
  void train_through(const std::string& run) {
    TrainRequest request;
    request.out = folder_ / run;
    EXPECT_EQ(train(recipe_, request).ending, Ending::finished);
  }
  TrainResult go_on(const std::string& run, Notes& notes, TrainRequest request = {}) {
    request.observer = &notes;
    return resume(folder_ / run, request);
  }
  ScratchFolder folder_;
  Recipe recipe_;
};

void flip(const std::string& file, double at) {
  std::string bytes = read_if_there(file);
  ASSERT_FALSE(bytes.empty());
  bytes[static_cast<size_t>(at * static_cast<double>(bytes.size() - 1))] ^= 64;
  std::ofstream(file, std::ios::binary) << bytes;
}

void to_nan(const std::string& file, const std::string& tensor) {
  NamedTensors tensors = load_tensors(file);
  tensors.at(tensor) = at::full_like(tensors.at(tensor), NAN);
  save_tensors(file, tensors, SafetensorsFile(file).header().metadata);
}

TEST_F(ResumeTest, TwoCheckpointsAreThereFromTheFirstSaveOn) {
  train_through("run");
  EXPECT_EQ(read_summary(SafetensorsFile(folder_ / "run/previous/state.safetensors").header(), "run").step,
            0);
  EXPECT_EQ(read_checkpoint(folder_ / "run").state.step, 9);
}

TEST_F(ResumeTest, ADamagedCheckpointFallsBackToTheOneBefore) {
  recipe_.train.save_every_steps = 3;
  train_through("through");
  struct Case {
    const char* what;
    std::function<void(const std::string& last)> damage;
  };
  const auto state = [](const std::string& last) { return last + "/state.safetensors"; };
  for (const Case& c : std::vector<Case>{
           {"header", [&](const std::string& last) { flip(state(last), 0); }},
           {"cut off", [&](const std::string& last) { fs::resize_file(state(last), 5000); }},
           {"empty", [&](const std::string& last) { fs::resize_file(state(last), 0); }},
           {"no state", [&](const std::string& last) { fs::remove(state(last)); }},
           {"an empty folder",
            [&](const std::string& last) {
              fs::remove_all(last);
              fs::create_directory(last);
            }},
           {"a file",
            [&](const std::string& last) {
              fs::remove_all(last);
              std::ofstream(last) << "x";
            }},
           {"no folder", [&](const std::string& last) { fs::remove_all(last); }},
           {"a bit of the model", [&](const std::string& last) { flip(last + "/model.safetensors", 1); }},
           {"the model cut off",
            [&](const std::string& last) { fs::resize_file(last + "/model.safetensors", 5000); }},
           {"a weight",
            [&](const std::string& last) {
              for (const auto& [name, t] : load_tensors(state(last))) {
                if (t.is_floating_point()) return to_nan(state(last), name);
              }
            }},
           {"the optimiser", [&](const std::string& last) {
              const NamedTensors tensors = load_tensors(state(last));
              to_nan(state(last), tensors.lower_bound("optimiser.second.")->first);
            }}}) {
    fs::remove_all(folder_ / "run");
    train_until("run", 8);  // last: step 8, previous: step 6
    ASSERT_EQ(read_checkpoint(folder_ / "run").state.step, 8);
    c.damage(folder_ / "run/last");
    Notes notes;
    EXPECT_EQ(go_on("run", notes).steps, 9) << c.what;
    EXPECT_EQ(notes.resumed_step, 6) << c.what;
    EXPECT_TRUE(has(notes.all(), "the run goes on from the checkpoint before it, " +
                                     (folder_ / "run/previous") + ", of step 6"))
        << c.what << ": " << notes.all();
    EXPECT_EQ(fs::exists(folder_ / "run/last.damaged"), std::string(c.what) != "no folder") << c.what;
    expect_same_bits(folder_ / "through", folder_ / "run");
    // No row stands twice.
    for (const char* table : {"metrics.csv", "timing.csv"}) {
      double step = 0;
      for (const auto& row : read_csv(folder_ / ("run/" + std::string(table))).rows) {
        EXPECT_GE(row[0], step);
        step = row[0];
      }
      EXPECT_EQ(step, 9) << table;
    }
    EXPECT_EQ(fs::file_size(folder_ / "run/events.out.tfevents.0.weyl"),
              fs::file_size(folder_ / "through/events.out.tfevents.0.weyl"));
    // Nothing is wrong any more.
    Notes again;
    go_on("run", again);
    EXPECT_TRUE(!has(again.all(), "checkpoint")) << again.all();
  }
}

TEST_F(ResumeTest, NoWholeCheckpointIsOneLineThatNamesBoth) {
  train_until("run", 4);
  for (const char* place : {"last", "previous"}) {
    fs::resize_file(folder_ / ("run/" + std::string(place) + "/state.safetensors"), 100);
  }
  Notes notes;
  try {
    go_on("run", notes);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_TRUE(has(error.what(), "run/last/state.safetensors: ")) << error.what();
    EXPECT_TRUE(has(error.what(), "run/previous/state.safetensors: ")) << error.what();
  }
  EXPECT_TRUE(fs::exists(folder_ / "run/last"));  // nothing was moved
}

// It was found after the training alone, which then ended with exit code 3.
TEST_F(ResumeTest, ADamagedBestModelIsSetAside) {
  for (const char* what : {"a bit", "cut off", "missing"}) {
    fs::remove_all(folder_ / "run");
    train_until("run", 8);
    const std::string file = folder_ / "run/best/model.safetensors";
    ASSERT_TRUE(fs::exists(file));
    if (std::string(what) == "a bit") {
      flip(file, 1);
    } else if (std::string(what) == "cut off") {
      fs::resize_file(file, 2000);
    } else {
      fs::remove(file);
    }
    Notes notes;
    const TrainResult result = go_on("run", notes);
    EXPECT_EQ(result.ending, Ending::finished) << what;
    ASSERT_EQ(notes.lines.size(), 1u) << notes.all();
    EXPECT_TRUE(has(notes.all(), file + ": ")) << notes.all();
    EXPECT_TRUE(has(notes.all(), "; last/ stands for the best model until the next validation"));
    EXPECT_EQ(fs::exists(file + ".damaged"), std::string(what) != "missing");
    EXPECT_EQ(result.best.value().step, 9) << what;
    EXPECT_EQ(read_summary(SafetensorsFile(file).header(), file).step, 9);
    Notes again;
    go_on("run", again);
    EXPECT_TRUE(has(again.all(), "is finished")) << again.all();
    EXPECT_FALSE(has(again.all(), "best model")) << again.all();
  }
}

// It may be whole: the training ended from the checkpoint before it, and the newer one was set aside.
TEST_F(ResumeTest, ACheckpointThatTheSystemDoesNotOpenIsNotDamaged) {
  for (const char* name : {"last/state.safetensors", "last/model.safetensors"}) {
    fs::remove_all(folder_ / "run");
    train_until("run", 4);
    const std::string file = folder_ / ("run/" + std::string(name));
    fs::remove(file);
    fs::create_symlink(fs::path(file).filename(), file);  // nobody can open a link to itself, root neither
    Notes notes;
    try {
      go_on("run", notes);
      FAIL() << name;
    } catch (const UnreadableError& error) {
      EXPECT_EQ(error.what(), file + ": cannot open: Too many levels of symbolic links");
    }
    EXPECT_TRUE(fs::is_symlink(file));
    EXPECT_FALSE(fs::exists(folder_ / "run/last.damaged"));
    EXPECT_EQ(notes.all(), "");
  }
}

TEST_F(ResumeTest, DamagedTelemetryIsSetAside) {
  recipe_.train.save_every_steps = 3;
  train_through("through");
  train_until("run", 5);
  for (const char* name : {"timing.csv", "events.out.tfevents.0.weyl", "environment.json"}) {
    std::ofstream(folder_ / ("run/" + std::string(name))) << "damage \n that is not, what it was\n";
  }
  Notes notes;
  EXPECT_EQ(go_on("run", notes).steps, 9);
  for (const char* name : {"timing.csv", "events.out.tfevents.0.weyl", "environment.json"}) {
    EXPECT_TRUE(has(notes.all(), std::string(name) + ".damaged")) << notes.all();
    EXPECT_TRUE(fs::exists(folder_ / ("run/" + std::string(name) + ".damaged")));
  }
  expect_same_bits(folder_ / "through", folder_ / "run");
  EXPECT_NE(Json::parse(read_if_there(folder_ / "run/environment.json"), "environment").find("data"),
            nullptr);
}

TEST_F(ResumeTest, OtherDataAreRefusedUnlessTheUserSaysSo) {
  train_until("run", 4);
  TrainRequest longer;
  longer.budget = {"train.epochs=7"};
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

// Nothing was said, and any data were taken.
TEST_F(ResumeTest, AMissingEnvironmentIsOneLine) {
  for (const char* contents : {"none", "", "[]"}) {
    fs::remove_all(folder_ / "run");
    train_until("run", 4);
    const std::string file = folder_ / "run/environment.json";
    fs::remove(file);
    if (std::string(contents) != "none") {
      std::ofstream(file) << contents;
    }
    Notes notes;
    go_on("run", notes);
    ASSERT_EQ(notes.lines.size(), 1u) << contents << ": " << notes.all();
    EXPECT_TRUE(has(notes.all(), file + ": ")) << notes.all();
    EXPECT_TRUE(has(notes.all(),
                    "; the data and the machine cannot be compared with those that the run began "
                    "with, and a new one is written"))
        << notes.all();
    EXPECT_NE(Json::parse(read_if_there(file), file).find("data"), nullptr);
  }
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
  other.budget = {"train.batch=4"};
  Notes refused;
  EXPECT_THROW(go_on("run", refused, other), ConfigError);
  TrainRequest longer;
  longer.budget = {"train.epochs=5"};
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
  other.budget = {"train.epochs=0"};
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
  longer.budget = {"train.epochs=4"};
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
  const double each = nominal_training_flops(*load_model(folder_ / "run").model);
  const auto budget = [](const char* key, double flops) {
    return std::string(key) + "=" + exact_text(flops);
  };
  Notes notes;
  TrainRequest request;
  // An epoch has three steps of 16, 16 and 8 graphs of five bodies.
  request.budget = {"train.epochs=false", budget("train.flops", each * 5 * 85)};
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

TEST_F(ResumeTest, APositionBeyondTheEpochNamesTheFile) {
  train_until("run", 4);
  const std::string file = folder_ / "run/last/state.safetensors";
  auto metadata = SafetensorsFile(file).header().metadata;
  TrainState state = train_state(metadata.at("state"), file);
  state.batch = 5;  // of five batches
  metadata["state"] = to_json(state);
  save_tensors(file, load_tensors(file), metadata);
  Notes notes;
  try {
    go_on("run", notes);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_TRUE(has(error.what(), file + ": metadata 'state': 'batch' must be below 5")) << error.what();
  }
}

}  // namespace
}  // namespace weyl
