#include "weyl/core/random_tensor.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace weyl {
namespace {

template <class Draw>
at::Tensor drawn(const std::vector<int64_t>& shape, Draw draw) {
  const at::Tensor x = at::empty(shape, at::kDouble);
  std::generate_n(x.mutable_data_ptr<double>(), x.numel(), draw);
  return x;
}

}  // namespace

at::Tensor normal_tensor(const std::vector<int64_t>& shape, Stream& stream) {
  return drawn(shape, [&] { return stream.normal(); });
}

at::Tensor uniform_tensor(const std::vector<int64_t>& shape, double low, double high, Stream& stream) {
  return drawn(shape, [&] { return low + (high - low) * stream.uniform(); });
}

}  // namespace weyl
