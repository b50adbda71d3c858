#include "weyl/data/sets/tensor_files.h"

#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/files/split.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Grids of one file, of which it says how far apart their cells are.
class SpacedGrids : public InMemory {
 public:
  explicit SpacedGrids(TensorFile file) : InMemory(std::move(file.batch), std::move(file.schema)) {
    const Grid& grid = std::get<Grid>(all().input);
    lattice_ = {grid.values.sizes().slice(2).vec(), grid.spacing};
  }
  Lattice lattice(int64_t /*index*/) const override { return lattice_; }

 private:
  Lattice lattice_;
};

std::shared_ptr<const Dataset> in_memory(const std::string& path, TensorFile file) {
  if (std::holds_alternative<Grid>(file.batch.input) && SafetensorsFile(path).contains("spacing")) {
    return std::make_shared<SpacedGrids>(std::move(file));
  }
  return std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema));
}

std::shared_ptr<const Dataset> open_told(const std::string& path, const Interface& interface) {
  return in_memory(path, read_tensor_file(path, schema_of(with_carrier_of(path, interface))));
}

std::string file_of(const std::string& folder, const char* split) {
  return (fs::path(folder) / (std::string(split) + ".safetensors")).string();
}

}  // namespace

Schema tensors_schema(const Interface* interface) {
  require<ConfigError>(interface != nullptr,
                       "data set `tensors`: needs an [interface] that says what its tensors are");
  return schema_of(*interface);
}

Splits open_tensors(const TensorsDataOptions& options, const Interface* interface) {
  tensors_schema(interface);
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; it must hold train.safetensors and may hold valid and test");
  const auto split = [&](const char* name) -> std::shared_ptr<const Dataset> {
    const std::string path = file_of(options.path, name);
    return fs::exists(path) ? open_told(path, *interface) : nullptr;
  };
  Splits splits{split("train"), split("valid"), split("test")};
  require<DataError>(splits.train || splits.valid || splits.test, options.path,
                     ": holds none of train.safetensors, valid.safetensors and test.safetensors");
  return splits;
}

bool TensorFiles::takes(const std::string& path, const DataOptions&) {
  return path.ends_with(".safetensors") && !fs::is_directory(path);
}

std::shared_ptr<const Dataset> TensorFiles::open(const OpenRequest& request) {
  return request.interface != nullptr
             ? open_told(request.path, *request.interface)
             : in_memory(request.path, read_tensor_file(request.path, request.values));
}

NamedSets TensorFiles::sets(const std::string& folder) {
  NamedSets found;
  for (const char* split : {"train", "valid", "test"}) {
    const OpenRequest request{.path = file_of(folder, split), .values = Values::any};
    if (fs::exists(request.path)) {
      found.emplace_back(split, NbodyFiles::takes(request.path, request.options) ? NbodyFiles::open(request)
                                : RigidBodyFiles::takes(request.path, request.options)
                                    ? RigidBodyFiles::open(request)
                                    : open(request));
    }
  }
  return found;
}

SplitIndices TensorFiles::split(const std::string& path, const std::string& folder,
                                const SplitOptions& options) {
  const TensorFile all = read_tensor_file(path);
  auto metadata = SafetensorsFile(path).header().metadata;
  metadata.erase("format");
  metadata.merge(split_metadata(path, options));
  return write_parts(
      folder, options, all.batch.count(), [&](const std::string& out, const std::vector<int64_t>& samples) {
        write_tensor_file(out, take(all.batch, samples, all.schema), all.schema, metadata, Existing::keep);
      });
}

}  // namespace weyl
