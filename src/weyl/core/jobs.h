#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace weyl {

/// What a long job tells and asks: `report(done, total)` from the calling thread about every 0.1 s; a true
/// `stop()` ends it.
struct JobHooks {
  std::function<void(int64_t done, int64_t total)> report;
  std::function<bool()> stop;
};

/// Calls `make(i, stopped)` for 0 <= i < count, in any order, on `threads` threads (0: one per core); a call
/// that takes long looks at `stopped`, and may return early when it is true. False when stopped; then some
/// were not made. The first exception of a call ends the job and is thrown here.
bool run_samples(int64_t count, int64_t threads, const JobHooks& hooks,
                 const std::function<void(int64_t i, const std::atomic<bool>& stopped)>& make);

}  // namespace weyl
