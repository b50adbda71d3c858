// Particles in motion as file formats (files/formats.h): our own files, and folders of the original ones.
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <filesystem>

#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/files/split.h"
#include "weyl/data/sets/nbody.h"

namespace weyl {

namespace fs = std::filesystem;

bool NbodyFiles::takes(const std::string& path, const DataOptions& options) {
  if (!TensorFiles::takes(path, options)) {
    return false;
  }
  const SafetensorsFile file(path);
  const auto format = file.header().metadata.find("format");
  return format != file.header().metadata.end() && format->second == nbody_format;
}

std::shared_ptr<const Dataset> NbodyFiles::open(const OpenRequest& request) {
  const auto* nbody = std::get_if<NbodyDataOptions>(&request.options.set);
  NbodyDataOptions chosen = nbody ? *nbody : NbodyDataOptions{};
  if (request.interface != nullptr) {  // the model decides whether it is told the speed
    chosen.speed = find_quantity(request.interface->features, "speed") != nullptr;
  }
  auto set = open_nbody_file(request.path, chosen, false);
  require_features(request, set->schema());
  return set;
}

SplitIndices NbodyFiles::split(const std::string& path, const std::string& folder,
                               const SplitOptions& options) {
  const SafetensorsFile file(path);
  auto metadata = file.header().metadata;
  metadata.erase("first_simulation");  // no longer consecutive
  metadata.erase("split");
  metadata.merge(split_metadata(path, options));
  open_nbody_file(path, {.input_frame = 0, .target_frame = 1}, false);  // checks the shapes
  const NamedTensors tensors = load_tensors(file);
  return write_parts(folder, options, tensors.at("charges").size(0),
                     [&](const std::string& out, const std::vector<int64_t>& samples) {
                       NamedTensors part;
                       const Tensor rows = at::tensor(samples, at::kLong);
                       for (const auto& [name, t] : tensors) {
                         part[name] = at::index_select(t, 0, rows);
                       }
                       save_tensors(out, part, metadata, Existing::keep);
                     });
}

NamedSets NbodyOriginals::sets(const std::string& folder) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("loc_") && name.ends_with(".npy")) {
      return named_sets(open_nbody({.path = folder}));
    }
  }
  return {};
}

bool NbodyOriginals::converts(const std::string& in, const std::string&, const OptionTexts&) {
  return fs::is_directory(in);
}

Converted NbodyOriginals::convert(const std::string& in, const std::string& out) {
  return {convert_nbody(in, out), {}};
}

}  // namespace weyl
