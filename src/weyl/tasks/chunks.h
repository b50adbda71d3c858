#pragma once

#include <ATen/core/grad_mode.h>

#include <numeric>
#include <vector>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// Calls f with all samples of a data set in their order, `most` at a time, without gradients.
template <class F>
void for_each_chunk(const Dataset& data, int64_t most, F f) {
  const at::NoGradGuard no_grad;
  for (int64_t begin = 0; begin < data.size(); begin += most) {
    std::vector<int64_t> indices(std::min(most, data.size() - begin));
    std::iota(indices.begin(), indices.end(), begin);
    f(data.batch(indices));
  }
}

}  // namespace weyl
