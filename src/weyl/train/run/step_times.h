#pragma once

#include <chrono>
#include <cstdint>

namespace weyl {

/// Where the time of some steps went, in seconds.
struct StepTimes {
  double batch = 0, forward = 0, backward = 0, optimiser = 0, logging = 0, validation = 0, saving = 0;
  int64_t steps = 0;
  double step_seconds() const { return batch + forward + backward + optimiser + logging; }
};

/// Adds the seconds of its lifetime to a sum.
class Timed {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Timed(double& sum) : sum_(sum), start_(Clock::now()) {}
  ~Timed() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& sum_;
  Clock::time_point start_;
};

}  // namespace weyl
