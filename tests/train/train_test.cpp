// From a recipe to a run: what `weyl train` does, without the program.
#include "weyl/train/train.h"

#include <gtest/gtest.h>

#include "tests/train/small_training.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/makers/particles/nbody.h"
#include "weyl/models/transformer/options.h"
#include "weyl/train/run/run_data.h"

namespace weyl {
namespace train_test {

class TrainTest : public testing::Test {
 protected:
  TrainTest() : recipe_(small_recipe()) {
    NbodyDataOptions data;
    data.path = folder_ / "data";
    data.train = data.valid = data.test = 0;
    recipe_.data.set = data;
    recipe_.train.epochs = 3;
    NbodyMakerOptions maker;
    maker.train = 40;
    maker.valid = maker.test = 10;
    maker.threads = 1;
    make_nbody(maker, folder_ / "data");
  }
  TrainRequest request(const std::string& out) {
    TrainRequest r;
    r.out = folder_ / out;
    return r;
  }
  ScratchFolder folder_;
  Recipe recipe_;
};

TEST_F(TrainTest, LeavesAWholeRunFolder) {
  const TrainResult result = train(recipe_, request("run"));
  EXPECT_EQ(result.run, folder_ / "run");
  EXPECT_EQ(result.steps, 9);
  ASSERT_TRUE(result.test.has_value());
  EXPECT_EQ(result.test->samples, 10);
  for (const char* name :
       {"config.toml", "environment.json", "README.md", "metrics.csv", "timing.csv",
        "events.out.tfevents.0.weyl", "last/state.safetensors", "best/model.safetensors"}) {
    EXPECT_FALSE(read_if_there(folder_ / ("run/" + std::string(name))).empty()) << name;
  }
  // config.toml is the recipe as it was resolved.
  EXPECT_EQ(read_recipe(folder_ / "run/config.toml").train.seed, recipe_.train.seed);
  EXPECT_NE(read_if_there(folder_ / "run/README.md").find("| test mse |"), std::string::npos);
  EXPECT_THROW(train(recipe_, request("run")), ConfigError);  // never overwritten
}

TEST_F(TrainTest, TakesTheCallersOwnData) {
  std::filesystem::remove_all(folder_ / "data");  // what the recipe names is not looked for
  TrainRequest own = request("own");
  own.data = small_data();
  EXPECT_EQ(train(recipe_, own).test->samples, 20);
  const Recipe recorded = read_recipe(folder_ / "own/config.toml");
  EXPECT_TRUE(std::holds_alternative<TensorsDataOptions>(recorded.data.set));
  EXPECT_EQ(recorded.interface->features, small_data().train->schema().interface.features);
  Recipe longer = recipe_;
  longer.train.epochs = 1;
  TrainRequest part = request("part");
  part.data = small_data();
  part.stop = stop_after(3);
  EXPECT_EQ(train(longer, part).ending, Ending::interrupted);
  part.stop = {};
  EXPECT_EQ(resume(folder_ / "part", part).test->samples, 20);
  EXPECT_THROW(resume(folder_ / "part", request("part")), DataError);
  EXPECT_THROW(train(recipe_, request("none")), DataError);
}

TEST_F(TrainTest, OpensTheDataAndFitsTheTaskOnce) {
  struct Watch : TrainObserver {
    std::string data;
    int opened_times = 0;
    Metrics straight_line;
    void opened(const Splits& splits, const Task& task) override {
      ++opened_times;
      straight_line = task.baselines(*splits.valid).back().second;  // of a fitted task
      std::filesystem::remove_all(data);                            // whoever opens it again fails
    }
  } watch;
  watch.data = folder_ / "data";
  TrainRequest r = request("run");
  r.observer = &watch;
  EXPECT_EQ(train(recipe_, r).test->samples, 10);
  EXPECT_EQ(watch.opened_times, 1);
  EXPECT_GT(watch.straight_line.at("mse").value, 0);
}

TEST_F(TrainTest, RefusesWhatNoDataCanMendBeforeItOpensThem) {
  std::filesystem::remove_all(folder_ / "data");
  recipe_.train.precision = Precision::bf16;
  EXPECT_THROW(train(recipe_, request("run")), ConfigError);  // not DataError
  recipe_.train.precision = Precision::float32;
  EXPECT_THROW(train(recipe_, request("run")), DataError);
  std::filesystem::create_directories(folder_ / "used/by/others");
  EXPECT_THROW(train(recipe_, request("used")), ConfigError);
}

TEST_F(TrainTest, ResumesFromWhereverItWasEnded) {
  train(recipe_, request("through"));
  TrainRequest stopped = request("run");
  stopped.stop = stop_after(4);
  EXPECT_EQ(train(recipe_, stopped).ending, Ending::interrupted);
  EXPECT_EQ(resume(folder_ / "run", {}).ending, Ending::finished);
  expect_same_bits(folder_ / "through", folder_ / "run");
  // Ended before its first checkpoint: config.toml is all there is.
  std::filesystem::create_directory(folder_ / "early");
  for (const char* name : {"config.toml", "environment.json"}) {
    std::filesystem::copy(folder_ / ("run/" + std::string(name)), folder_ / ("early/" + std::string(name)));
  }
  EXPECT_EQ(resume(folder_ / "early", {}).steps, 9);
  expect_same_bits(folder_ / "through", folder_ / "early");
}

// The current folder, until the end of a test.
struct Standing {
  std::filesystem::path before = std::filesystem::current_path();
  explicit Standing(const std::string& folder) { std::filesystem::current_path(folder); }
  ~Standing() { std::filesystem::current_path(before); }
};

TEST_F(TrainTest, FindsItsDataFromAnyFolder) {
  auto& path = std::get<NbodyDataOptions>(recipe_.data.set).path;
  path = "data";
  const Standing at_home(folder_.path);
  train(recipe_, request("through"));
  TrainRequest stopped = request("run");
  stopped.stop = stop_after(4);
  train(recipe_, stopped);
  std::filesystem::create_directories(folder_ / "elsewhere/data");  // other data of the same name
  const Standing elsewhere(folder_ / "elsewhere");
  EXPECT_EQ(path_of(data_of_run(recipe_.data, folder_ / "run")), folder_ / "data");
  EXPECT_EQ(path_of(data_of_run(recipe_.data, "../run/last/model.safetensors")), folder_ / "data");
  EXPECT_EQ(path_of(data_of_run(recipe_.data, "model.safetensors")), "data");  // in no run
  EXPECT_EQ(resume("../run", {}).ending, Ending::finished);
  expect_same_bits(folder_ / "through", folder_ / "run");  // the path is kept as it was written
  EXPECT_EQ(path_of(read_recipe("../run/config.toml").data), "data");
  // So are the other files that a set names, be its path absolute.
  std::ofstream(folder_ / "listed.txt") << "1\n";
  for (const std::string& data : {std::string("data"), folder_ / "data"}) {
    const DataOptions qm9 =
        data_of_run({Qm9DataOptions{.path = data, .exclude = "listed.txt"}}, folder_ / "run");
    EXPECT_EQ(path_of(qm9), folder_ / "data");
    EXPECT_EQ(std::get<Qm9DataOptions>(qm9.set).exclude, folder_ / "listed.txt");
  }
  EXPECT_EQ(
      std::get<Qm9DataOptions>(data_of_run({Qm9DataOptions{.exclude = "none.txt"}}, folder_ / "run").set)
          .exclude,
      "none.txt");
  // Without the folder it was started in, a path means what it says.
  std::filesystem::rename(folder_ / "data", folder_ / "gone");
  EXPECT_EQ(path_of(data_of_run(recipe_.data, folder_ / "run")), "data");
  std::ofstream(folder_ / "run/environment.json") << "nonsense";
  EXPECT_EQ(path_of(data_of_run(recipe_.data, folder_ / "run")), "data");
}

TEST_F(TrainTest, SaysWhatDiffersFromTheMachineItBeganOn) {
  struct Notes : TrainObserver {
    std::string lines;
    void noted(const std::string& line) override { lines += line; }
  } notes;
  TrainRequest r = request("run");
  r.observer = &notes;
  train(recipe_, r);
  resume(folder_ / "run", r);
  EXPECT_EQ(notes.lines.find("machine"), std::string::npos) << notes.lines;  // but that it is finished
  Json other = Json::parse(read_if_there(folder_ / "run/environment.json"), "environment.json");
  other.set("torch", "1.0");
  std::ofstream(folder_ / "run/environment.json") << other.dump();
  resume(folder_ / "run", r);
  EXPECT_NE(notes.lines.find("torch \"1.0\" -> "), std::string::npos) << notes.lines;
}

TEST_F(TrainTest, WritesNothingWhenItCannotStart) {
  Recipe broken = recipe_;
  broken.train.epochs.reset();
  EXPECT_THROW(train(broken, request("run")), ConfigError);
  broken = recipe_;
  broken.train.precision = Precision::bf16;
  EXPECT_THROW(train(broken, request("run")), ConfigError);
  broken = recipe_;
  std::get<NbodyDataOptions>(broken.data.set).path = folder_ / "nowhere";
  EXPECT_THROW(train(broken, request("run")), DataError);
  broken = recipe_;
  broken.model.system.get_if<transformer::Options>()->heads = 7;  // of a width of 16
  EXPECT_THROW(train(broken, request("run")), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

/// What an observer is told of.
struct Notes : TrainObserver {
  std::string lines;
  void noted(const std::string& line) override { lines += line + "\n"; }
};

TEST_F(TrainTest, SaysWhatIsOddAboutTheData) {
  Notes sound;
  TrainRequest r = request("sound");
  r.observer = &sound;
  train(recipe_, r);
  EXPECT_EQ(sound.lines, "");
  // The validation samples are training samples, two of which have labels that are far off.
  Splits data = small_data();
  Batch all = dynamic_cast<const InMemory&>(*data.train).all();
  all.labels["displacement"] = all.labels["displacement"].clone();
  all.labels["displacement"][3] = 1e6;
  data.train = std::make_shared<InMemory>(all, data.train->schema());
  const std::vector<int64_t> some{5, 9, 12};
  data.valid = std::make_shared<InMemory>(data.train->batch(some), data.train->schema());
  Notes odd;
  TrainRequest own = request("odd");
  own.data = data;
  own.observer = &odd;
  recipe_.train.epochs = 1;
  train(recipe_, own);
  EXPECT_NE(odd.lines.find("train: displacement: 1 of 70 samples has a norm beyond 20 times the median"),
            std::string::npos)
      << odd.lines;
  EXPECT_NE(odd.lines.find(
                "valid: 3 of 3 samples have the inputs of a sample of train: sample 0 those of sample 5, "
                "sample 1 those of sample 9, sample 2 those of sample 12\n"),
            std::string::npos)
      << odd.lines;
  Notes again;  // whoever goes on with a run has read them
  own.observer = &again;
  resume(folder_ / "odd", own);
  EXPECT_EQ(again.lines.find("inputs of a sample"), std::string::npos) << again.lines;
}

TEST_F(TrainTest, NamesTheLabelThatSpoilsTheStatistics) {
  Splits data = small_data();
  Batch all = dynamic_cast<const InMemory&>(*data.train).all();
  all.labels["displacement"] = all.labels["displacement"].clone();
  all.labels["displacement"][3] = 1e300;
  data.train = std::make_shared<InMemory>(all, data.train->schema());
  TrainRequest own = request("run");
  own.data = data;
  std::string message;
  try {
    train(recipe_, own);
  } catch (const DataError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("sample 0 has displacement of up to 1e+300"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(TrainTest, RefusesFeaturesThatAreLearned) {
  Splits data = small_data();
  Schema schema = data.train->schema();
  schema.interface.features[1].name = "displacement";
  data.train = std::make_shared<InMemory>(dynamic_cast<const InMemory&>(*data.train).all(), schema);
  TrainRequest own = request("run");
  own.data = data;
  EXPECT_THROW(train(recipe_, own), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(TrainTest, RunsWithoutValidationAndTestData) {
  std::filesystem::remove(folder_ / "data/valid.safetensors");
  std::filesystem::remove(folder_ / "data/test.safetensors");
  const TrainResult result = train(recipe_, request("run"));
  EXPECT_EQ(result.steps, 9);
  EXPECT_FALSE(result.best.has_value());
  EXPECT_FALSE(result.test.has_value());
  EXPECT_EQ(model_file(folder_ / "run"), folder_ / "run/last/model.safetensors");
}

}  // namespace train_test
}  // namespace weyl
