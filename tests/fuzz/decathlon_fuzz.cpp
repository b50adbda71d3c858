#include <algorithm>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/volumes/volume_index.h"

namespace {

bool inside(const std::string& path) {
  return path.starts_with("folder/") && path.find("/../") == std::string::npos;
}

/// Names at least one modality and class, numbers that ascend from 0, and cases inside the folder.
bool is_sound(const weyl::VolumeIndex& index) {
  bool sound = !index.modalities.empty() && !index.labels.empty() &&
               index.numbers.size() == index.labels.size() && index.numbers[0] == 0 &&
               std::ranges::adjacent_find(index.numbers, std::greater_equal()) == index.numbers.end();
  for (const auto& region : index.regions) {
    for (const int64_t c : region.classes) {
      sound = sound && c >= 0 && c < static_cast<int64_t>(index.numbers.size());
    }
  }
  for (const auto& c : index.training) {
    sound = sound && c.channels.size() == 1 && inside(c.channels[0]) && inside(c.mask);
  }
  for (const auto& c : index.test) {
    sound = sound && c.channels.size() == 1 && inside(c.channels[0]) && c.mask.empty();
  }
  return sound;
}

}  // namespace

/// Text is refused with a DataError, or read to what is sound, as an index and as folds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (!is_sound(weyl::parse_volume_index(text, "folder", "input"))) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  try {
    for (const auto& fold : weyl::parse_volume_folds(text, "input")) {
      if (fold.train.empty() || fold.valid.empty()) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
