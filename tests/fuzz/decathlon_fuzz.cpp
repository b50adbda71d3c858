#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/volumes/decathlon_index.h"

/// Text is refused with a DataError, or names at least one modality, class and case, all inside the folder.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto index = weyl::parse_decathlon({reinterpret_cast<const char*>(data), size}, "folder", "input");
    bool sound =
        !index.modalities.empty() && !index.labels.empty() && !(index.training.empty() && index.test.empty());
    const auto inside = [](const std::string& path) {
      return path.starts_with("folder/") && path.find("/../") == std::string::npos;
    };
    for (const auto& c : index.training) {
      sound = sound && inside(c.image) && inside(c.label);
    }
    for (const auto& c : index.test) {
      sound = sound && inside(c.image) && c.label.empty();
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
