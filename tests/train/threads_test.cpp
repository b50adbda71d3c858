// How many threads a run takes: a rule of model and batch, written into the run.
#include "weyl/train/loop/compute_settings.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/train/small_training.h"
#include "weyl/core/json.h"
#include "weyl/models/work.h"
#include "weyl/tasks/task.h"

namespace weyl {
namespace threads_test {

class ThreadsTest : public testing::Test {
 protected:
  ThreadsTest() {
    if (const char* said = std::getenv("OMP_NUM_THREADS")) {
      said_ = said;
    }
    unsetenv("OMP_NUM_THREADS");
    at::set_num_threads(3);
  }
  ~ThreadsTest() override {
    at::set_num_threads(before_);
    said_.empty() ? unsetenv("OMP_NUM_THREADS") : setenv("OMP_NUM_THREADS", said_.c_str(), 1);
  }
  TrainRequest request(const std::string& out) const {
    TrainRequest r;
    r.out = folder_ / out;
    r.data = small_data();
    return r;
  }
  double threads_of(const std::string& run) const {
    const Json json = Json::parse(read_if_there(folder_ / (run + "/environment.json")), run);
    return json.find("threads")->number_or(0);
  }
  ScratchFolder folder_;

 private:
  int before_ = at::get_num_threads();
  std::string said_;
};

TEST_F(ThreadsTest, AreAFixedRuleOfTheWorkOfABatch) {
  EXPECT_EQ(threads_worth(0, 16), 1);
  EXPECT_EQ(threads_worth(1.99 * flops_worth_a_thread, 16), 1);
  EXPECT_EQ(threads_worth(2 * flops_worth_a_thread, 16), 2);
  EXPECT_EQ(threads_worth(7.5 * flops_worth_a_thread, 16), 7);
  EXPECT_EQ(threads_worth(1e30, 16), 16);
  EXPECT_EQ(threads_worth(1e30, 1), 1);
}

TEST_F(ThreadsTest, OfATrainingAreWrittenIntoItsRun) {
  Recipe recipe = small_recipe();
  recipe.train.epochs = 1;
  train(recipe, request("small"));  // a step of microseconds
  EXPECT_EQ(threads_of("small"), 1);
  EXPECT_EQ(at::get_num_threads(), 3);  // the caller's again
  TrainRequest told = request("told");
  told.threads = 2;
  train(recipe, told);
  EXPECT_EQ(threads_of("told"), 2);
  setenv("OMP_NUM_THREADS", "3", 1);
  train(recipe, request("environment"));
  EXPECT_EQ(threads_of("environment"), 3);
}

TEST_F(ThreadsTest, OfAResumedRunAreThoseItBeganWith) {
  Recipe recipe = small_recipe();
  recipe.train.epochs = 2;
  TrainRequest stopped = request("run");
  stopped.threads = 2;
  int steps = 0;
  stopped.stop = [&] { return ++steps > 3; };
  train(recipe, stopped);
  struct Seen : TrainObserver {
    int64_t threads = 0;
    void started(const TrainStart& start) override { threads = start.threads; }
  } seen;
  TrainRequest on = request("");
  on.observer = &seen;
  resume(folder_ / "run", on);
  EXPECT_EQ(seen.threads, 2);
  EXPECT_EQ(at::get_num_threads(), 3);
}

TEST_F(ThreadsTest, AreFoundByTheTokensThatABatchHas) {
  Recipe recipe = small_recipe();
  Interface interface;
  interface.typical_nodes = 5;
  interface.features = {{"velocity", Level::node, Kind::vector}};
  interface.outputs = {{"y", Level::graph, Kind::scalar}};
  const auto model = build(recipe.model, interface, built_in_systems());
  TrainOptions& o = recipe.train;
  o.batch = 8;
  EXPECT_EQ(tokens_of_a_batch(*model, o), 40);
  o.crop = {4};  // of three dimensions
  EXPECT_EQ(tokens_of_a_batch(*model, o), 8 * 64);
  o.crop = {4, 2, 3};
  EXPECT_EQ(tokens_of_a_batch(*model, o), 8 * 24);
  o.batch_tokens = 1000;
  EXPECT_EQ(tokens_of_a_batch(*model, o), 1000);
  const double forward = model->work_of_token().forward;
  EXPECT_GT(forward, 0);
  EXPECT_EQ(training_flops(*model, nullptr, 10), 10 * model->work_of_token().training());
  EXPECT_LT(training_flops(*model, nullptr, 10), 30 * forward);  // inputs need no gradient
  EXPECT_EQ(predicting_flops(*model, nullptr, 10), 10 * forward);
}

}  // namespace threads_test
}  // namespace weyl
