#pragma once

#include <cstdint>
#include <vector>

#include "weyl/parallel/ranks.h"

namespace weyl {

/// How long the sum of one float32 tensor over all ranks takes, as gradients are summed: of so many MB, 10^6 bytes, the median
/// and the quartiles of milliseconds on the first rank.
struct SumTime {
  int64_t megabytes = 0;
  double ms = 0, lower = 0, upper = 0;

  double gigabytes_a_second() const { return static_cast<double>(megabytes) / ms; }
};

/// Of 1, 25, 50, 100 and 200 MB on a device, `repeats` times each after one that does not count. Error: a sum is wrong.
std::vector<SumTime> time_sums(Ranks& ranks, at::Device device, int64_t repeats);

}  // namespace weyl
