#include "weyl/core/segments.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/to_device.h"

namespace weyl {

struct Segments::Tables {
  std::mutex mutex;
  std::map<std::string, std::vector<Tensor>, std::less<>> made;
};

const std::vector<Tensor>& Segments::table(std::string_view name,
                                           const std::function<std::vector<Tensor>()>& make) const {
  require(tables_ != nullptr,
          "Segments: tables must be of segments made by of_sizes, of_offsets, of_index or to");
  {
    const std::scoped_lock lock(tables_->mutex);
    if (const auto found = tables_->made.find(name); found != tables_->made.end()) {
      return found->second;
    }
  }
  std::vector<Tensor> made = make();  // which may ask for other tables
  for (Tensor& t : made) {
    t = t.defined() ? to_device(t, device()) : t;
  }
  const std::scoped_lock lock(tables_->mutex);
  return tables_->made.try_emplace(std::string(name), std::move(made)).first->second;
}

const Tensor& Segments::offsets_on_device() const {
  require(rows() <= std::numeric_limits<int32_t>::max(),
          "Segments: must have at most 2^31 - 1 rows on a device, got ", rows());
  return table("offsets", [&] { return std::vector{at::tensor(offsets, at::kInt)}; }).front();
}

const Tensor& Segments::sizes_on_device() const {
  return table("sizes", [&] { return std::vector{at::tensor(sizes(), at::kLong)}; }).front();
}

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
  Tensor index = at::empty({offsets.back()}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    std::fill(row + offsets[s], row + offsets[s + 1], static_cast<int64_t>(s));
  }
  return of_index(std::move(offsets), to_device(index, device));
}

Segments Segments::of_index(std::vector<int64_t> offsets, Tensor index) {
  Segments result;
  result.offsets = std::move(offsets);
  result.index = std::move(index);
  result.tables_ = std::make_shared<Tables>();
  return result;
}

Segments Segments::to(at::Device device) const {
  return of_index(offsets, index.defined() ? to_device(index, device) : index);
}

}  // namespace weyl
