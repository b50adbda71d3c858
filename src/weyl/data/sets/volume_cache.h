#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "weyl/core/segments.h"

namespace weyl {

/// An image (C, X, Y, Z) float32 and its mask (X, Y, Z) uint8, undefined where there is none.
struct Volume {
  Tensor image, mask;

  int64_t bytes() const;
};

/// The volumes used last, as many as a number of bytes holds. Safe to use from several threads.
class VolumeCache {
 public:
  explicit VolumeCache(int64_t bytes) : most_(bytes) {}
  std::optional<Volume> find(int64_t index);
  void keep(int64_t index, const Volume& volume);

 private:
  std::mutex mutex_;
  int64_t most_, held_ = 0;
  std::list<std::pair<int64_t, Volume>> by_use_;  // the last used first
  std::map<int64_t, std::list<std::pair<int64_t, Volume>>::iterator> by_index_;
};

}  // namespace weyl
