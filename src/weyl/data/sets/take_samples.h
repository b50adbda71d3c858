#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/parts.h"

namespace weyl {

/// Keeps the first `asked` samples, all for 0. DataError naming `where`: there are fewer.
template <class Sample>
void keep_first(std::vector<Sample>& samples, int64_t asked, const std::string& where) {
  const auto found = static_cast<int64_t>(samples.size());
  require<DataError>(asked <= found, where, " must be at most ", found,
                     ", the samples there are (0: all), got ", asked);
  if (asked > 0) {
    samples.resize(asked);
  }
}

/// Takes `asked` samples (0: a tenth) out of `train`, drawn by the stream "valid"; both keep their order.
/// DataError naming `where`: none would be left.
template <class Sample>
std::vector<Sample> draw_validation(std::vector<Sample>& train, int64_t asked, int64_t seed,
                                    const std::string& where) {
  const auto size = static_cast<int64_t>(train.size());
  const int64_t count = asked > 0 ? asked : size / 10;
  require<DataError>(count < size, where, ".valid must be less than ", size,
                     ", the training samples that it is drawn from, got ", count);
  std::vector<bool> drawn(size);
  const auto parts = draw_parts(size, {count}, seed, "valid");
  for (const int64_t i : parts.front()) {
    drawn[i] = true;
  }
  std::vector<Sample> valid, rest;
  for (int64_t i = 0; i < size; ++i) {
    (drawn[i] ? valid : rest).push_back(std::move(train[i]));
  }
  train = std::move(rest);
  return valid;
}

}  // namespace weyl
