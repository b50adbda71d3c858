#include "weyl/study/cost/training_steps.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/models/systems.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace thread_times_test {

TEST(ThreadTimes, SayWhenFewerAreFaster) {
  ThreadTimes times{8, {}, {{1, 1.2}, {2, 0.9}, {4, 0.8}, {8, 1}}};
  EXPECT_EQ(times.fewer_and_faster(), 4);
  times.of_threads = {{1, 0.96}, {8, 1}};
  EXPECT_EQ(times.fewer_and_faster(), 0);  // not by more than 5 %
  times = {1, {}, {{1, 1}, {2, 0.5}}};
  EXPECT_EQ(times.fewer_and_faster(), 0);  // more are not fewer
  EXPECT_EQ(ThreadTimes{}.fewer_and_faster(), 0);
}

TEST(ThreadTimes, AreOfEachNumberAndLeaveWeightsAndThreads) {
  Schema schema;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 4;
  schema.interface.features.push_back(
      {.name = "charge", .level = Level::node, .kind = Kind::scalar, .channels = 1});
  schema.interface.outputs.push_back(
      {.name = "energy", .level = Level::graph, .kind = Kind::scalar, .channels = 8});
  const auto model = build(ModelOptions{}, schema.interface);
  const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
  std::vector<Tensor> before;
  for (const Parameter& p : model->parameters()) {
    before.push_back(p.tensor.detach().clone());
  }
  const int threads = at::get_num_threads();
  const ThreadTimes times = time_threads(*model, nullptr, batch, {3, 1, 2, 1, 2}, 0.2);
  EXPECT_EQ(at::get_num_threads(), threads);
  EXPECT_EQ(times.threads, 2);
  ASSERT_EQ(times.step_ms.size(), 3U);
  for (const int64_t number : {1, 2, 3}) {
    EXPECT_GT(times.step_ms.at(number), 0);
    EXPECT_GT(times.of_threads.at(number), 0);
  }
  EXPECT_EQ(times.of_threads.at(2), 1);
  EXPECT_FALSE(model->training());
  size_t i = 0;
  for (const Parameter& p : model->parameters()) {
    EXPECT_TRUE(at::equal(p.tensor, before[i++])) << p.name;
    EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
  }
  EXPECT_THROW(time_threads(*model, nullptr, batch, {}), ConfigError);
  EXPECT_THROW(time_threads(*model, nullptr, batch, {2, 0}), ConfigError);
}

}  // namespace thread_times_test
}  // namespace weyl
