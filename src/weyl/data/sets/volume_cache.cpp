#include "weyl/data/sets/volume_cache.h"

namespace weyl {

int64_t Volume::bytes() const {
  return static_cast<int64_t>(image.nbytes()) + (mask.defined() ? static_cast<int64_t>(mask.nbytes()) : 0);
}

std::optional<Volume> VolumeCache::find(int64_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = by_index_.find(index);
  if (found == by_index_.end()) {
    return {};
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->second;
}

void VolumeCache::keep(int64_t index, const Volume& volume) {
  const std::lock_guard lock(mutex_);
  if (by_index_.contains(index) || volume.bytes() > most_) {
    return;
  }
  held_ += volume.bytes();
  by_use_.emplace_front(index, volume);
  by_index_[index] = by_use_.begin();
  while (held_ > most_) {
    held_ -= by_use_.back().second.bytes();
    by_index_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
}

}  // namespace weyl
