#include "weyl/study/sweep/evaluated.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <span>

#include "weyl/core/checksum.h"
#include "weyl/train/fingerprint.h"

namespace weyl {
namespace {

constexpr int64_t most_looked_at = 1024;

/// Sample by sample, as numbers: batches of grids, and the types of their labels, may be others than those of points.
std::string hash_of_labels(const Dataset& data) {
  uint64_t hash = 0;
  const int64_t looked = std::min(data.size(), most_looked_at);
  for (int64_t k = 0; k < looked; ++k) {
    const int64_t sample = looked == 1 ? 0 : k * (data.size() - 1) / (looked - 1);
    for (const auto& [name, label] : data.batch({&sample, 1}).labels) {
      const Tensor numbers = label.detach().to(at::kCPU, at::kDouble).contiguous();
      hash = checksum_number(std::as_bytes(std::span(name)), hash);
      hash =
          checksum_number(std::as_bytes(std::span(numbers.const_data_ptr<double>(), numbers.numel())), hash);
    }
  }
  return std::to_string(hash);
}

}  // namespace

Json evaluated_samples(const Splits& data) {
  Json all = fingerprint(Splits{nullptr, data.valid, data.test});
  for (const auto& [name, split] :
       {std::pair("train", data.train), {"valid", data.valid}, {"test", data.test}}) {
    if (split != nullptr) {
      const Json* known = all.find(name);
      Json one = known != nullptr ? *known : Json::object().set("samples", split->size());
      all.set(name, one.set("labels", hash_of_labels(*split)));
    }
  }
  return all;
}

}  // namespace weyl
