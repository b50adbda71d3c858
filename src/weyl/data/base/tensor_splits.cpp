#include "weyl/data/base/tensor_splits.h"

#include <filesystem>
#include <numeric>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Dataset> open_split(const TensorSplits& splits, const std::string& split,
                                          int64_t asked) {
  const std::string path = (fs::path(splits.path) / (split + ".safetensors")).string();
  if (!fs::exists(path)) {
    return nullptr;
  }
  TensorFile file = read_tensor_file(path, splits.wanted);
  for (const auto& q : splits.wanted.labels) {
    require<DataError>(file.batch.labels.contains(q.name), path, ": ", q.name, ": is absent");
  }
  const int64_t found = file.batch.count();
  require<DataError>(asked <= found, path, ": ", splits.key, ".", split, " must be at most ", found,
                     ", the samples there are (0: all), got ", asked);
  if (asked > 0 && asked < found) {
    std::vector<int64_t> first(asked);
    std::iota(first.begin(), first.end(), int64_t{0});
    file.batch = take(file.batch, first, file.schema);
  }
  return std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema));
}

}  // namespace

Splits open_tensor_splits(const TensorSplits& splits) {
  require<DataError>(fs::is_directory(splits.path), splits.path, ": there is no such folder; make it with ",
                     splits.make);
  Splits found{open_split(splits, "train", splits.train), open_split(splits, "valid", splits.valid),
               open_split(splits, "test", splits.test)};
  require<DataError>(found.train || found.valid || found.test, splits.path,
                     ": holds none of train.safetensors, valid.safetensors and test.safetensors; make them "
                     "with ",
                     splits.make);
  return found;
}

}  // namespace weyl
