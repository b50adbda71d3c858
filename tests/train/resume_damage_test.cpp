// What `weyl train --resume` meets: damage, litter and files that are not there.
#include <gtest/gtest.h>

#include "tests/train/resume.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace resume_damage_test {

namespace fs = std::filesystem;

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

}  // namespace resume_damage_test
}  // namespace weyl
