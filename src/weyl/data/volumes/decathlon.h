#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/segments.h"
#include "weyl/data/volumes/options.h"
#include "weyl/data/volumes/volume_index.h"

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

/// Volumes without masks: one file, or those of a folder in the order of their names. Files whose
/// names end in _0000 and on are the channels of one case where there are `modalities` of each, or as many as a
/// dataset.json says. `modalities` 0: as many as that, or as the first file has. Channels have names where a dataset.json
/// beside them or in the folder above lists them.
std::shared_ptr<const Dataset> open_volume_files(const std::string& path,
                                                 const DecathlonDataOptions& options);

/// The first key by which the options read the same volumes to other values, "spacing"; empty: there is none, and one
/// reading serves models of both.
std::string differently_read(const DecathlonDataOptions& one, const DecathlonDataOptions& other);

/// open_set without the cases whose headers are refused, each with a line in `faults`. DataError: nothing is left, or it is
/// not a case that is wrong.
Splits open_sound_cases(const DecathlonDataOptions& options, std::vector<std::string>& faults);

/// The numbers that the masks of cases have, and 0. DataError: one that is no whole number 0 .. 65535, more than 256.
std::vector<int64_t> numbers_in_masks(const std::vector<VolumeCase>& cases);

/// Whether a folder has volumes, and is no set of them (is_volume_set).
bool is_volume_folder(const std::string& path);

}  // namespace weyl
