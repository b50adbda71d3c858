#include "weyl/ops/pairs.h"

#include <ATen/ops/empty.h>

#include <numeric>
#include <vector>

namespace weyl {

Pairs all_pairs(const Segments& graphs) {
  std::vector<int64_t> seconds_of_first;
  Tensor second = at::empty({graphs.pairs()}, at::kLong);
  auto* row = second.mutable_data_ptr<int64_t>();
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const int64_t n = graphs.size(s);
    seconds_of_first.insert(seconds_of_first.end(), static_cast<size_t>(n), n);
    for (int64_t i = 0; i < n; ++i, row += n) {
      std::iota(row, row + n, graphs.offsets[s]);
    }
  }
  const auto device = graphs.index.defined() ? graphs.index.device() : at::Device(at::kCPU);
  Segments of_first = Segments::of_sizes(seconds_of_first, device);
  const Tensor first = of_first.index;
  return {first, second.to(device), std::move(of_first)};
}

}  // namespace weyl
