#include "weyl/data/sets/pose_sequences.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Dataset> open_split(const std::string& path, const Schema& wanted,
                                          const std::string& split, int64_t asked) {
  TensorFile file = read_tensor_file(path, wanted);
  for (const auto& q : wanted.labels) {
    require<DataError>(file.batch.labels.contains(q.name), path, ": ", q.name, ": is absent");
  }
  const int64_t found = file.batch.count();
  require<DataError>(asked <= found, path, ": data.pose_sequences.", split, " must be at most ", found,
                     ", the samples that are there, got ", asked);
  if (asked > 0 && asked < found) {
    std::vector<int64_t> first(asked);
    std::iota(first.begin(), first.end(), int64_t{0});
    file.batch = take(file.batch, first, file.schema);
  }
  return std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema));
}

}  // namespace

Schema pose_sequences_schema(const PoseSequencesDataOptions& options) {
  Schema schema;
  schema.interface.group = options.group;
  schema.interface.dimension = dimension_of(options.group);
  schema.interface.typical_nodes = 7;
  schema.labels = {{.name = "element", .level = Level::graph, .kind = Kind::element},
                   {.name = "flank", .kind = Kind::category}};
  return schema;
}

Splits open_pose_sequences(const PoseSequencesDataOptions& options) {
  const std::string make =
      text("`weyl data make pose_sequences --out ", options.path, " group=", name_of(options.group), "`");
  require<DataError>(fs::is_directory(options.path), options.path, ": there is no such folder; make it with ",
                     make);
  const Schema wanted = pose_sequences_schema(options);
  const auto open = [&](const char* split, int64_t asked) -> std::shared_ptr<const Dataset> {
    const std::string path = (fs::path(options.path) / (std::string(split) + ".safetensors")).string();
    return fs::exists(path) ? open_split(path, wanted, split, asked) : nullptr;
  };
  Splits splits{open("train", options.train), open("valid", options.valid), open("test", options.test)};
  require<DataError>(splits.train || splits.valid || splits.test, options.path,
                     ": holds none of train.safetensors, valid.safetensors and test.safetensors; make them "
                     "with ",
                     make);
  return splits;
}

}  // namespace weyl
