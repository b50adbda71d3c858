#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/train/small_training.h"
#include "weyl/makers/particles/nbody.h"
#include "weyl/train/train.h"

/// Runs that are left and gone on with, for the tests of `resume`.
namespace weyl {

namespace fs = std::filesystem;

inline bool has(const std::string& line, const std::string& part) {
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

}  // namespace weyl
