#include "weyl/core/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace weyl {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kSmall = uint64_t{1} << 26;  // bytes that are taken without asking: asking takes 50 us

/// The first number of a small file of the kernel; unknown when there is none ("max").
uint64_t number_in(const std::string& path) {
  uint64_t number = 0;
  return std::ifstream(path) >> number ? number : kUnknown;
}

/// The number after a word of such a file, 0 when it is not there.
uint64_t number_after(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (uint64_t number = 0; word == key && file >> number) {
      return number;
    }
  }
  return 0;
}

uint64_t of_machine() {
  const uint64_t kibibytes = number_after("/proc/meminfo", "MemAvailable:");
  return kibibytes > 0 ? kibibytes << 10U : kUnknown;
}

/// What the tightest of the groups above the process leaves (version 2 of control groups).
uint64_t of_groups() {
  constexpr std::string_view unified = "0::";
  uint64_t least = kUnknown;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with(unified)) {
      continue;
    }
    std::string path = line.substr(unified.size());
    while (true) {
      const std::string folder = "/sys/fs/cgroup" + path;
      const uint64_t most = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
      if (most != kUnknown && used != kUnknown) {
        // Files that the system keeps in memory count as used, though it gives them up.
        const uint64_t files = number_after(folder + "/memory.stat", "inactive_file") +
                               number_after(folder + "/memory.stat", "active_file");
        least = std::min(least, most - std::min(used - std::min(used, files), most));
      }
      if (path.size() <= 1) {
        break;
      }
      path.resize(path.rfind('/'));
    }
  }
  return least;
}

uint64_t of_addresses() {
  rlimit limit{};
  const uint64_t pages = number_in("/proc/self/statm");
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || pages == kUnknown) {
    return kUnknown;
  }
  const uint64_t used = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(used, limit.rlim_cur);
}

}  // namespace

uint64_t available_memory() {
  return std::min({of_machine(), of_groups(), of_addresses()});
}

uint64_t peak_resident_memory() {
  return number_after("/proc/self/status", "VmHWM:") << 10U;
}

void require_memory(uint64_t bytes, std::string_view where) {
  if (bytes <= kSmall) {
    return;
  }
  const uint64_t available = available_memory();
  const auto mebibytes = [](uint64_t n) { return (n + (1U << 20U) - 1) >> 20U; };
  require<MemoryError>(bytes <= available, where, ": needs ", mebibytes(bytes), " MiB of memory, ",
                       mebibytes(available), " are available");
}

}  // namespace weyl
