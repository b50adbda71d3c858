#include "weyl/train/loop/stop_request.h"

#include <chrono>
#include <utility>

namespace weyl {

StopRequestWatch::StopRequestWatch(std::function<bool()> stop, std::function<void()> on_stop_request,
                                   double seconds) {
  if (stop && on_stop_request) {
    thread_ = std::thread([this, stop = std::move(stop), on_stop_request = std::move(on_stop_request),
                           seconds] { work(stop, on_stop_request, seconds); });
  }
}

StopRequestWatch::~StopRequestWatch() {
  ended_ = true;
  if (thread_.joinable()) {
    thread_.join();
  }
}

void StopRequestWatch::work(const std::function<bool()>& stop, const std::function<void()>& on_stop_request,
                            double seconds) {
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
      on_stop_request();
      return;
    }
  }
}

StopRequestWatch::Section::Section(StopRequestWatch& watch) : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.inside_ = true;
}

StopRequestWatch::Section::~Section() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.inside_ = false;
}

}  // namespace weyl
