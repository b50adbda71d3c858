// Volumes as one of the file formats (formats.h).
#include <filesystem>

#include "weyl/data/base/open_request.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/files.h"
#include "weyl/data/volumes/text_volumes.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace {

constexpr int64_t kAnySize = 1'000'000'000;  // MiB: what is only inspected may be of any size (inspection.h)

}  // namespace

bool VolumeFiles::takes(const std::string& path, AskedSet) {
  return is_volume_file(path) || (std::filesystem::is_directory(path) && is_volume_folder(path));
}

/// As the set's options say, else with as many modalities as the model takes.
std::shared_ptr<const Dataset> VolumeFiles::open(const OpenRequest& request) {
  const auto* chosen = request.asked.get_if<DecathlonDataOptions>();
  DecathlonDataOptions o = chosen ? *chosen : DecathlonDataOptions{};
  if (!chosen) {
    const Interface* interface = request.interface;
    o.modalities = interface && interface->features.size() == 1 ? interface->features[0].channels : 0;
    if (request.values == Values::any) {
      o.limit = kAnySize;
      o.normalise = false;  // values are told as the files have them
    }
  }
  return open_volume_files(request.path, o);
}

bool VolumeFiles::lays_out(const std::string& folder) {
  return is_volume_set(folder);
}

void VolumeFiles::require_index(const std::string& folder) {
  read_volume_index(folder);
}

namespace {

/// As the files have it, whatever it is.
DecathlonDataOptions unchanged(const std::string& folder) {
  return {.path = folder, .modalities = 0, .classes = 0, .normalise = false, .limit = kAnySize};
}

}  // namespace

NamedSets VolumeFiles::sets(const std::string& folder) {
  return named_sets(open_set(unchanged(folder)));
}

NamedSets VolumeFiles::sound_sets(const std::string& folder, std::vector<std::string>& faults) {
  return named_sets(open_sound_cases(unchanged(folder), faults));
}

}  // namespace weyl
