#pragma once

#include <sys/resource.h>

#include <ctime>

namespace weyl {

/// Seconds of processor time that this process has taken.
inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of processor time of the children that this process has waited for.
inline double cpu_seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// By what limits of time are multiplied: sanitizers slow everything down.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr double slowness = 10;
#else
inline constexpr double slowness = 1;
#endif

}  // namespace weyl
