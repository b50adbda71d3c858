#include "weyl/study/sweep/evaluated.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "weyl/train/fingerprint.h"

namespace weyl {
namespace {

constexpr int64_t most_looked_at = 1024;

/// A bijection of the state for each word, so that every change of one shows.
void add(uint64_t& state, uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  state ^= state >> 32;
}

/// Sample by sample, as numbers: batches of grids, and the types of their labels, may be others than those of points.
std::string hash_of_labels(const Dataset& data) {
  uint64_t state = 0x243f6a8885a308d3u;
  const int64_t looked = std::min(data.size(), most_looked_at);
  for (int64_t k = 0; k < looked; ++k) {
    const int64_t sample = looked == 1 ? 0 : k * (data.size() - 1) / (looked - 1);
    for (const auto& [name, label] : data.batch({&sample, 1}).labels) {
      for (const char letter : name) {
        add(state, static_cast<unsigned char>(letter));
      }
      const Tensor numbers = label.detach().to(at::kCPU, at::kDouble).contiguous();
      add(state, static_cast<uint64_t>(numbers.numel()));
      const double* number = numbers.const_data_ptr<double>();
      for (int64_t i = 0; i < numbers.numel(); ++i) {
        add(state, std::bit_cast<uint64_t>(number[i]));
      }
    }
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state));
  return digits;
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
