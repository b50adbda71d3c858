#include "weyl/tasks/saved_numbers.h"

#include <ATen/ops/isfinite.h>

#include <algorithm>
#include <string>

#include "weyl/core/check.h"

namespace weyl {

Tensor saved_numbers(const NamedTensors& state, const char* task, const char* name,
                     std::initializer_list<int64_t> shape) {
  std::string wanted;
  for (const int64_t n : shape) {
    wanted += (wanted.empty() ? "" : ", ") + (n < 0 ? "any" : std::to_string(n));
  }
  const auto found = state.find(name);
  const Tensor x = found == state.end() ? Tensor() : found->second;
  const bool fits =
      x.defined() && x.is_floating_point() && x.numel() > 0 &&
      std::ranges::equal(x.sizes(), shape, [](int64_t n, int64_t m) { return m < 0 || n == m; });
  require<DataError>(fits, "task ", task, ": state must hold the numbers '", name, "' of shape (", wanted,
                     "), got ", x.defined() ? text(x.scalar_type(), " ", x.sizes()) : "none");
  const Tensor numbers = x.to(at::kCPU, at::kDouble);
  require<DataError>(at::isfinite(numbers).all().item<bool>(), "task ", task, ": '", name,
                     "' must be finite");
  return numbers;
}

}  // namespace weyl
