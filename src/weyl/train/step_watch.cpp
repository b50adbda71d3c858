#include "weyl/train/step_watch.h"

#include <chrono>
#include <utility>

namespace weyl {

StepWatch::StepWatch(std::function<bool()> stop, std::function<void()> leave, double seconds) {
  if (stop && leave) {
    thread_ = std::thread(
        [this, stop = std::move(stop), leave = std::move(leave), seconds] { work(stop, leave, seconds); });
  }
}

StepWatch::~StepWatch() {
  ended_ = true;
  if (thread_.joinable()) {
    thread_.join();
  }
}

void StepWatch::work(const std::function<bool()>& stop, const std::function<void()>& leave, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr auto between = std::chrono::milliseconds(50);
  while (!ended_ && !stop()) {
    std::this_thread::sleep_for(between);
  }
  for (const auto asked = Clock::now(); !ended_; std::this_thread::sleep_for(between)) {
    if (std::chrono::duration<double>(Clock::now() - asked).count() < seconds) {
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (inside_) {
      leave();
      return;
    }
  }
}

StepWatch::Section::Section(StepWatch& watch) : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.inside_ = true;
}

StepWatch::Section::~Section() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.inside_ = false;
}

}  // namespace weyl
