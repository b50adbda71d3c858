#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace weyl {

/// The most memory that this process has held since `forget_peak_memory`, in bytes.
inline int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) {
      return kibibytes << 10;
    }
  }
  return 0;
}

inline void forget_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// Bytes that `work` makes this process hold at most, beyond what it held before. AddressSanitizer keeps what is freed, so
/// that its numbers are those of all that was taken.
template <class F>
int64_t memory_of(const F& work) {
  // Large blocks come from the system, and go back to it, or what was freed before would be taken again unseen.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 17);
  ::malloc_trim(0);
  forget_peak_memory();
  const int64_t before = peak_memory();
  work();
  return peak_memory() - before;
}

}  // namespace weyl
