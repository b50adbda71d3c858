// Volumes as one of the file formats (files/formats.h).
#include <filesystem>

#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/formats/nifti.h"
#include "weyl/data/sets/decathlon.h"

namespace weyl {

bool VolumeFiles::takes(const std::string& path, const DataOptions&) {
  return is_nifti(path) || (std::filesystem::is_directory(path) && is_volume_folder(path));
}

/// As the set's options say, else with as many modalities as the model takes.
std::shared_ptr<const Dataset> VolumeFiles::open(const OpenRequest& request) {
  const auto* chosen = std::get_if<DecathlonDataOptions>(&request.options.set);
  DecathlonDataOptions o = chosen ? *chosen : DecathlonDataOptions{};
  if (!chosen) {
    const Interface* interface = request.interface;
    o.modalities = interface && interface->features.size() == 1 ? interface->features[0].channels : 0;
  }
  return open_volume_files(request.path, o);
}

NamedSets VolumeFiles::sets(const std::string& folder) {
  return is_decathlon_folder(folder)
             ? named_sets(open_decathlon({.path = folder, .modalities = 0, .classes = 0}))
             : NamedSets();
}

}  // namespace weyl
