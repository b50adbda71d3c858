#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "weyl/core/prepared_file.h"
#include "weyl/core/segments.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// Which cells of a file, along canonical axes, a prepared volume is made of.
struct VolumeBox {
  std::array<int64_t, 3> begin{}, kept{};
};

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

/// Where the prepared volume of a case is kept, known by the files that it was made from, their sizes and times, and by
/// `how`, which says all that prepared values depend on beside them. `folder` empty: nothing is kept.
PreparedFile prepared_volume(const std::string& folder, const VolumeCase& files, const std::string& how);

/// Nothing: there is no such file, or it is broken or another's; whoever asks makes it anew.
std::optional<Volume> load_volume(const PreparedFile& file);
std::optional<VolumeBox> load_box(const PreparedFile& file);
/// Of a volume without an image the box alone is kept, which is found by a look at all voxels. Where that cannot be done nothing is
/// kept: volumes are then prepared each time.
void save_volume(const PreparedFile& file, const Volume& volume, const VolumeBox& box);

/// Why nothing can be kept in a folder, which is made; empty: volumes can.
std::string fault_of_prepared(const std::string& folder);

}  // namespace weyl
