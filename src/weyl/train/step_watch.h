#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace weyl {

/// Lets a training be left while it computes. Between steps a training asks for itself whether it should stop; one
/// step of a large system may take minutes, and no kernel can be interrupted. What a training saves does not change
/// inside a step, though, until the optimiser uses the gradient: so a thread of its own can save it and end the
/// process.
class StepWatch {
 public:
  /// `stop` is asked by this object's thread, twenty times a second. When it has said yes for `seconds` and the
  /// training is within a Section, `leave` is called on that thread, once; it should end the process. Until it
  /// returns, the training waits at the end of its Section. Without `leave` nothing is watched.
  StepWatch(std::function<bool()> stop, std::function<void()> leave, double seconds = 2);
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  /// While one lives, the training changes nothing of what `leave` reads; `leave` may change it, as the training waits for
  /// it at the end.
  class Section {
   public:
    explicit Section(StepWatch& watch);
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    StepWatch& watch_;
  };

 private:
  void work(const std::function<bool()>& stop, const std::function<void()>& leave, double seconds);

  std::mutex mutex_;
  bool inside_ = false;  // guarded by mutex_
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace weyl
