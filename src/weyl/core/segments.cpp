#include "weyl/core/segments.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {

int64_t Segments::longest() const {
  int64_t longest = 0;
  for (int64_t s = 0; s < count(); ++s) {
    longest = std::max(longest, size(s));
  }
  return longest;
}

bool Segments::uniform() const {
  for (int64_t s = 0; s < count(); ++s) {
    if (size(s) != size(0)) {
      return false;
    }
  }
  return count() > 0 && size(0) > 0;
}

std::vector<int64_t> Segments::sizes() const {
  std::vector<int64_t> sizes(count());
  for (int64_t s = 0; s < count(); ++s) {
    sizes[s] = size(s);
  }
  return sizes;
}

int64_t Segments::pairs() const {
  int64_t sum = 0;
  for (int64_t s = 0; s < count(); ++s) {
    sum += size(s) * size(s);
  }
  return sum;
}

Segments Segments::of_sizes(std::span<const int64_t> sizes, at::Device device) {
  std::vector<int64_t> offsets(sizes.size() + 1, 0);
  for (size_t s = 0; s < sizes.size(); ++s) {
    offsets[s + 1] = offsets[s] + sizes[s];
  }
  return of_offsets(std::move(offsets), device);
}

Segments Segments::of_offsets(std::vector<int64_t> offsets, at::Device device) {
  require(!offsets.empty() && offsets.front() == 0, "Segments: offsets must begin with 0");
  require(std::is_sorted(offsets.begin(), offsets.end()), "Segments: offsets must not decrease");
  Segments result;
  result.offsets = std::move(offsets);
  Tensor index = at::empty({result.rows()}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  for (int64_t s = 0; s < result.count(); ++s) {
    std::fill(row + result.offsets[s], row + result.offsets[s + 1], s);
  }
  result.index = index.to(device);
  return result;
}

Segments Segments::to(at::Device device) const {
  Segments result;
  result.offsets = offsets;
  result.index = index.defined() ? index.to(device) : index;
  return result;
}

}  // namespace weyl
