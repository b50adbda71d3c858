#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/formats/decathlon.h"

/// Text is refused with a DataError, or names at least one modality, class and case, all inside the folder.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto index = weyl::parse_decathlon({reinterpret_cast<const char*>(data), size}, "folder", "input");
    bool sound =
        !index.modalities.empty() && !index.labels.empty() && !(index.training.empty() && index.test.empty());
    for (const auto& list : {index.training, index.test}) {
      for (const auto& c : list) {
        sound = sound && c.image.starts_with("folder/") && c.image.find("/../") == std::string::npos;
      }
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
