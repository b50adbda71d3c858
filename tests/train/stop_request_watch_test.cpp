#include "weyl/train/loop/stop_request.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace weyl {
namespace stop_request_watch_test {

using namespace std::chrono_literals;

TEST(StopRequestWatch, LeavesWithinASectionOnly) {
  std::atomic<bool> stop = false;
  std::atomic<int> left = 0;
  StopRequestWatch watch([&] { return stop.load(); }, [&] { ++left; }, 0.2);
  {
    const StopRequestWatch::Section section(watch);
    std::this_thread::sleep_for(400ms);
    EXPECT_EQ(left, 0);  // nobody asked
  }
  stop = true;
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(left, 0);  // between steps a training asks for itself
  while (left == 0) {
    const StopRequestWatch::Section section(watch);
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(left, 1);
  {
    const StopRequestWatch::Section section(watch);
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(left, 1);  // once
}

TEST(StopRequestWatch, LetsAShortStepEnd) {
  std::atomic<bool> stop = false, left = false;
  StopRequestWatch watch([&] { return stop.load(); }, [&] { left = true; }, 3600);
  const StopRequestWatch::Section section(watch);
  stop = true;
  std::this_thread::sleep_for(200ms);
  EXPECT_FALSE(left);
}

TEST(StopRequestWatch, HoldsTheTrainingAtTheEndOfItsSectionMeanwhile) {
  std::atomic<bool> inside = false, done = false, ended = false;
  StopRequestWatch watch([] { return true; },
                         [&] {
                           inside = true;
                           while (!done) {
                             std::this_thread::sleep_for(5ms);
                           }
                         },
                         0);
  std::thread training([&] {
    {
      const StopRequestWatch::Section section(watch);
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

TEST(StopRequestWatch, WatchesNothingWithoutAWayToLeave) {
  StopRequestWatch watch(nullptr, nullptr);
  const StopRequestWatch::Section section(watch);
}

}  // namespace stop_request_watch_test
}  // namespace weyl
