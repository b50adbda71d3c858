#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "weyl/core/segments.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// Which cells of a file, along canonical axes, a prepared volume is made of.
struct VolumeBox {
  std::array<int64_t, 3> begin{}, kept{};
};

/// A case as it was prepared: image (C, X, Y, Z) float32, mask (X, Y, Z) uint8, undefined where there is none.
struct PreparedVolume {
  Tensor image, mask;
  VolumeBox box;
};

/// Where the prepared volume of a case is kept. What it was made from, files with their sizes and times and how they were
/// prepared, is in its name and in the file itself: any other is not taken for it.
class PreparedFile {
 public:
  /// `folder` empty: nothing is kept. `how` says all that prepared values depend on beside the files.
  PreparedFile(const std::string& folder, const VolumeCase& files, const std::string& how);

  /// Nothing: there is no such file, or it is broken or another's; whoever asks makes it anew.
  std::optional<PreparedVolume> load() const;
  std::optional<VolumeBox> load_box() const;
  /// Writes it whole or not at all, making the folder. DataError: that cannot be done.
  void save(const PreparedVolume& volume) const;

 private:
  std::string folder_, path_, key_;
};

}  // namespace weyl
