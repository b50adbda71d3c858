#include "weyl/data/files/field_summaries.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>

namespace weyl {

void Summaries::add(const std::string& name, const std::string& unit, const Tensor& values) {
  if (!values.defined()) {
    return;
  }
  const auto [place, added] = places_.emplace(name, all_.size());
  if (added) {
    all_.push_back({name, values.sizes().vec(), unit});
    all_.back().shape[0] = 0;
    all_.back().min = INFINITY;
    all_.back().max = -INFINITY;
  }
  FieldSummary* found = &all_[place->second];
  found->shape[0] += values.size(0);
  for (size_t d = 1; d < found->shape.size() && d < static_cast<size_t>(values.dim()); ++d) {
    found->shape[d] = found->shape[d] == values.size(static_cast<int64_t>(d)) ? found->shape[d] : 0;
  }
  if (values.numel() == 0) {
    return;
  }
  const Tensor x = values.to(at::kDouble);
  const Tensor finite = x.isfinite();
  found->missing += x.numel() - finite.sum().item<int64_t>();
  found->min =
      std::min(found->min, x.where(finite, at::full({}, INFINITY, at::kDouble)).min().item<double>());
  found->max =
      std::max(found->max, x.where(finite, at::full({}, -INFINITY, at::kDouble)).max().item<double>());
}

std::vector<FieldSummary> Summaries::done() {
  for (auto& f : all_) {
    if (f.min > f.max) {
      f.min = f.max = 0;
    }
  }
  return std::move(all_);
}

}  // namespace weyl
