#include "weyl/train/loop/train_state.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/core/json.h"

namespace weyl {
namespace train_state_test {

const TrainState some{.step = 20,
                      .epoch = 4,
                      .batch = 3,
                      .best = Score{0.1, 2},
                      .best_step = 15,
                      .waited = 2,
                      .best_loss = 0.7,
                      .schedule = {.drops = 1, .best = Score{0.2, 1}, .waited = 1},
                      .loss_sum = 1.0 / 3,
                      .gradient_norm_sum = 2.0 / 3,
                      .summed = 5,
                      .tokens = 987654,
                      .metrics_bytes = 1234,
                      .unvalidated = 1e-3};

TEST(TrainState, ReadsBackToTheSameBits) {
  EXPECT_EQ(train_state(to_json(some), "file"), some);
  EXPECT_EQ(train_state(to_json(TrainState{}), "file"), TrainState{});
}

TEST(TrainState, OlderFilesDoNotCountTokens) {
  TrainState older = some;
  older.tokens.reset();
  EXPECT_EQ(to_json(older).find("tokens"), std::string::npos);
  EXPECT_EQ(train_state(to_json(older), "file"), older);
}

std::string refusal(const std::string& key, const Json& value) {
  Json json = Json::parse(to_json(some), "file");
  try {
    train_state(json.set(key, value).dump(), "run/last/state.safetensors: metadata 'state'");
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TrainState, CountersOutOfRangeNameTheFileAndTheKey) {
  struct Case {
    const char* key;
    Json value;
  };
  for (const Case& c : std::vector<Case>{{"step", -1},
                                         {"step", 1.5},
                                         {"step", 1e300},
                                         {"step", "x"},
                                         {"step", Json()},  // what a NaN is written as
                                         {"step", 3},       // before the best one
                                         {"epoch", -4},
                                         {"epoch", 21},  // beyond the steps
                                         {"batch", -1},
                                         {"best_step", 21},
                                         {"waited", 21},
                                         {"schedule_drops", 21},
                                         {"schedule_waited", 21},
                                         {"loss_sum", Json()},
                                         {"gradient_norm_sum", -1.0},
                                         {"summed", 21},
                                         {"tokens", -1},
                                         {"tokens", 0.5},
                                         {"metrics_bytes", -1},
                                         {"unvalidated", -1e-3}}) {
    const std::string message = refusal(c.key, c.value);
    EXPECT_EQ(message.find("run/last/state.safetensors: metadata 'state'"), 0u) << c.key << ": " << message;
    EXPECT_NE(message.find(std::string("'") + c.key + "'"), std::string::npos) << message;
  }
}

}  // namespace train_state_test
}  // namespace weyl
