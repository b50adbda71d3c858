#include "weyl/train/step_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace weyl {
namespace step_watch_test {

using namespace std::chrono_literals;

TEST(StepWatch, LeavesWithinASectionOnly) {
  std::atomic<bool> stop = false;
  std::atomic<int> left = 0;
  StepWatch watch([&] { return stop.load(); }, [&] { ++left; }, 0.2);
  {
    const StepWatch::Section section(watch);
    std::this_thread::sleep_for(400ms);
    EXPECT_EQ(left, 0);  // nobody asked
  }
  stop = true;
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(left, 0);  // between steps a training asks for itself
  while (left == 0) {
    const StepWatch::Section section(watch);
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(left, 1);
  {
    const StepWatch::Section section(watch);
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(left, 1);  // once
}

TEST(StepWatch, LetsAShortStepEnd) {
  std::atomic<bool> stop = false, left = false;
  StepWatch watch([&] { return stop.load(); }, [&] { left = true; }, 3600);
  const StepWatch::Section section(watch);
  stop = true;
  std::this_thread::sleep_for(200ms);
  EXPECT_FALSE(left);
}

TEST(StepWatch, HoldsTheTrainingAtTheEndOfItsSectionMeanwhile) {
  std::atomic<bool> inside = false, done = false, ended = false;
  StepWatch watch([] { return true; },
                  [&] {
                    inside = true;
                    while (!done) {
                      std::this_thread::sleep_for(5ms);
                    }
                  },
                  0);
  std::thread training([&] {
    {
      const StepWatch::Section section(watch);
      while (!inside) {
        std::this_thread::sleep_for(5ms);
      }
    }
    ended = true;
  });
  while (!inside) {
    std::this_thread::sleep_for(5ms);
  }
  std::this_thread::sleep_for(200ms);
  EXPECT_FALSE(ended);
  done = true;
  training.join();
  EXPECT_TRUE(ended);
}

TEST(StepWatch, WatchesNothingWithoutAWayToLeave) {
  StepWatch watch(nullptr, nullptr);
  const StepWatch::Section section(watch);
}

}  // namespace step_watch_test
}  // namespace weyl
