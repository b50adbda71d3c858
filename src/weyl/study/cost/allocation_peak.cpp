#include "weyl/study/cost/allocation_peak.h"

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <algorithm>

#include "weyl/parallel/device.h"

namespace weyl {

struct AllocationPeak::State {
  virtual ~State() = default;
  virtual int64_t bytes() const = 0;
};

struct AllocationPeak::OfCpu : State {
  /// LibTorch's allocators report every block to the profiler of the thread that is set.
  class Follower : public c10::MemoryReportingInfoBase {
   public:
    void reportMemoryUsage(void*, int64_t change, size_t, size_t, c10::Device device) override {
      if (device.is_cpu()) {
        taken_ += change;
        most_ = std::max(most_, taken_);
      }
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t most() const { return most_; }

   private:
    int64_t taken_ = 0, most_ = 0;
  };

  std::shared_ptr<Follower> follower = std::make_shared<Follower>();
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, follower};
  int64_t bytes() const override { return follower->most(); }
};

/// A device's allocator keeps the peak itself, over all threads: the backward pass runs on one of its own.
struct AllocationPeak::OfDevice : State {
  explicit OfDevice(at::Device device)
      : allocator(c10::getDeviceAllocator(device.type())), index(device_index(device)) {
    allocator->resetPeakStats(index);
    before = allocated().current;
  }
  c10::CachingAllocator::Stat allocated() const {
    return allocator->getDeviceStats(index)
        .allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
  }
  int64_t bytes() const override { return allocated().peak - before; }

  c10::DeviceAllocator* allocator;
  c10::DeviceIndex index;
  int64_t before = 0;
};

AllocationPeak::AllocationPeak(at::Device device) {
  if (device.is_cpu()) {
    state_ = std::make_unique<OfCpu>();
  } else {
    state_ = std::make_unique<OfDevice>(device);
  }
}
AllocationPeak::~AllocationPeak() = default;
int64_t AllocationPeak::bytes() const {
  return state_->bytes();
}

}  // namespace weyl
