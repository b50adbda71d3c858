#pragma once

#include <cstdint>
#include <memory>

namespace weyl {

/// While one lives (thread-local), follows the CPU memory that tensors take and give back.
class AllocationPeak {
 public:
  AllocationPeak();
  ~AllocationPeak();
  AllocationPeak(const AllocationPeak&) = delete;
  AllocationPeak& operator=(const AllocationPeak&) = delete;

  int64_t bytes() const;  // the most taken at once, beyond what was alive at the start

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weyl
