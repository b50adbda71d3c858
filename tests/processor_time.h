#pragma once

#include <ctime>

namespace weyl {

/// Seconds of processor time that this process has taken.
inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// By what limits of time are multiplied: sanitizers slow everything down.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr double slowness = 10;
#else
inline constexpr double slowness = 1;
#endif

}  // namespace weyl
