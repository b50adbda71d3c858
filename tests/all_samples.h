#pragma once

#include <numeric>
#include <vector>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// All samples of a set as one batch.
inline Batch all_of(const Dataset& data) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), 0);
  return data.batch(every);
}

}  // namespace weyl
