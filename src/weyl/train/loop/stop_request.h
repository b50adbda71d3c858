#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace weyl {

/// Ends a training while it computes. Between steps a training asks for itself whether it should stop. But one step of
/// a large system may take minutes, and no kernel can be interrupted. Inside a step, what a training saves does not
/// change until the optimiser uses the gradient, so another thread can save it and end the process.
class StopRequestWatch {
 public:
  /// This object's thread asks `stop` twenty times a second. Once `stop` has said yes, and `seconds` later the training
  /// is in a Section, the thread calls `on_stop_request`, once; it should end the process. The training waits at the
  /// end of its Section until it returns. Without `stop` or `on_stop_request` nothing is watched.
  StopRequestWatch(std::function<bool()> stop, std::function<void()> on_stop_request, double seconds = 2);
  ~StopRequestWatch();
  StopRequestWatch(const StopRequestWatch&) = delete;
  StopRequestWatch& operator=(const StopRequestWatch&) = delete;

  /// While a Section lives, the training changes nothing that `on_stop_request` reads. `on_stop_request` may change it,
  /// because the training waits for it at the end of the Section.
  class Section {
   public:
    explicit Section(StopRequestWatch& watch);
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    StopRequestWatch& watch_;
  };

 private:
  void work(const std::function<bool()>& stop, const std::function<void()>& on_stop_request, double seconds);

  std::mutex mutex_;
  bool inside_ = false;  // guarded by mutex_
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace weyl
