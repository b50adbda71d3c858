#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <memory>

namespace weyl {

/// While one lives, follows the memory of a device that tensors take and give back: on the CPU what this thread does
/// (thread-local), elsewhere what all threads do, of which one may live at a time.
class AllocationPeak {
 public:
  explicit AllocationPeak(at::Device device = at::kCPU);
  ~AllocationPeak();
  AllocationPeak(const AllocationPeak&) = delete;
  AllocationPeak& operator=(const AllocationPeak&) = delete;

  int64_t bytes() const;  // the most taken at once, beyond what was alive at the start

 private:
  struct State;
  struct OfCpu;
  struct OfDevice;
  std::unique_ptr<State> state_;
};

}  // namespace weyl
