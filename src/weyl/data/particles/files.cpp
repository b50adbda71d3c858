// Particles in motion as file formats: our own files, and folders of the original ones.
#include "weyl/data/particles/files.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <filesystem>

#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/particles/nbody.h"
#include "weyl/data/particles/options.h"

namespace weyl {

bool NbodyFiles::takes(const std::string& path, AskedSet) {
  return tensor_file_format(path) == nbody_format;
}

bool NbodyFiles::lays_out(const std::string& folder) {
  return tensor_folder_format(folder) == nbody_format;
}

NamedSets NbodyFiles::sets(const std::string& folder) {
  return tensor_file_sets(
      folder, [](const std::string& file) { return open(OpenRequest{.path = file, .values = Values::any}); });
}

std::shared_ptr<const Dataset> NbodyFiles::open(const OpenRequest& request) {
  const auto* nbody = request.asked.get_if<NbodyDataOptions>();
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

bool NbodyOriginals::lays_out(const std::string& folder) {
  return has_entry(
      folder, [](const std::string& name) { return name.starts_with("loc_") && name.ends_with(".npy"); });
}

NamedSets NbodyOriginals::sets(const std::string& folder) {
  return named_sets(open_set(NbodyDataOptions{.path = folder}));
}

bool NbodyOriginals::converts(const std::string& in, const std::string&, const OptionTexts&) {
  return std::filesystem::is_directory(in);
}

Converted NbodyOriginals::convert(const std::string& in, const std::string& out) {
  return {convert_nbody(in, out), {}};
}

}  // namespace weyl
