#include "weyl/study/allocation_peak.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

namespace weyl {
namespace {

/// LibTorch's allocator reports every block to the profiler of the thread that is set.
class Follower : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t change, size_t, size_t, c10::Device) override {
    taken_ += change;
    most_ = std::max(most_, taken_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t most() const { return most_; }

 private:
  int64_t taken_ = 0, most_ = 0;
};

}  // namespace

struct AllocationPeak::State {
  std::shared_ptr<Follower> follower = std::make_shared<Follower>();
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, follower};
};

AllocationPeak::AllocationPeak() : state_(std::make_unique<State>()) {}
AllocationPeak::~AllocationPeak() = default;
int64_t AllocationPeak::bytes() const {
  return state_->follower->most();
}

}  // namespace weyl
