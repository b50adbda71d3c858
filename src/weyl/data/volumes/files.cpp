// Volumes as one of the file formats (formats.h).
#include <filesystem>

#include "weyl/data/base/open_request.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/decathlon_index.h"
#include "weyl/data/volumes/files.h"
#include "weyl/data/volumes/nifti.h"

namespace weyl {
namespace {

constexpr int64_t kAnySize = 1'000'000'000;  // MiB: what is only inspected may be of any size (inspection.h)

}  // namespace

bool VolumeFiles::takes(const std::string& path, AskedSet) {
  return is_nifti(path) || (std::filesystem::is_directory(path) && is_volume_folder(path));
}

/// As the set's options say, else with as many modalities as the model takes.
std::shared_ptr<const Dataset> VolumeFiles::open(const OpenRequest& request) {
  const auto* chosen = request.asked.get_if<DecathlonDataOptions>();
  DecathlonDataOptions o = chosen ? *chosen : DecathlonDataOptions{};
  if (!chosen) {
    const Interface* interface = request.interface;
    o.modalities = interface && interface->features.size() == 1 ? interface->features[0].channels : 0;
    o.limit = request.values == Values::any ? kAnySize : o.limit;
  }
  return open_volume_files(request.path, o);
}

bool VolumeFiles::lays_out(const std::string& folder) {
  return is_decathlon_folder(folder);
}

void VolumeFiles::require_index(const std::string& folder) {
  read_decathlon(folder);
}

NamedSets VolumeFiles::sets(const std::string& folder) {
  return named_sets(
      open_set(DecathlonDataOptions{.path = folder, .modalities = 0, .classes = 0, .limit = kAnySize}));
}

}  // namespace weyl
