#include "weyl/data/images/cifar10.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image_set.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

ImageSamples samples_of(const std::string& path) {
  const CifarImages found = read_cifar10(path);
  const int64_t n = found.size();
  return {
      copy_tensor(ElementType::u8, std::vector<int64_t>{n, 3, cifar_side, cifar_side},
                  std::as_bytes(std::span(found.pixels)), path),
      copy_tensor(ElementType::i64, std::vector<int64_t>{n}, std::as_bytes(std::span(found.labels)), path),
      {}};
}

std::shared_ptr<const Dataset> cifar10_set(const ImageSamples& samples, const std::string& where,
                                           const Cifar10DataOptions& o, const char* split, int64_t asked) {
  const int64_t found = samples.size();
  require<DataError>(asked <= found, where, ": data.cifar10.", split, " must be at most ", found,
                     ", the images there are (0: all), got ", asked);
  return std::make_shared<ImageSet>(samples.slice(0, asked > 0 ? asked : found), cifar10_kind(), o.input,
                                    where);
}

}  // namespace

ImageKind cifar10_kind() {
  return {.mean = {0.4914, 0.4822, 0.4465}, .deviation = {0.2470, 0.2435, 0.2616}, .classes = 10};
}

Schema declared_schema(const Cifar10DataOptions& options) {
  return image_schema(cifar10_kind(), options.input, 32 * 32);
}

Splits open_set(const Cifar10DataOptions& options) {
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; it must hold data_batch_1.bin .. 5 and test_batch.bin");
  const fs::path below = fs::path(options.path) / "cifar-10-batches-bin";
  const fs::path folder = fs::is_directory(below) ? below : fs::path(options.path);
  std::vector<Tensor> values, classes;
  for (int k = 1; k <= 5; ++k) {
    if (const auto path = folder / text("data_batch_", k, ".bin"); fs::exists(path)) {
      const ImageSamples part = samples_of(path.string());
      values.push_back(part.values);
      classes.push_back(part.classes);
    }
  }
  Splits splits;
  if (!values.empty()) {
    const ImageSamples all{at::cat(values), at::cat(classes), {}, {}};
    const SplitIndices parts = random_split(all.size(), {.train = 0.9, .valid = 0.1, .seed = options.seed});
    const auto rows = [&](const std::vector<int64_t>& which) {
      const Tensor index = at::tensor(which, at::kLong);
      return ImageSamples{
          at::index_select(all.values, 0, index), at::index_select(all.classes, 0, index), {}, {}};
    };
    const std::string where = (folder / "data_batch_*.bin").string();
    splits.train = cifar10_set(rows(parts.train), where, options, "train", options.train);
    if (!parts.valid.empty()) {
      splits.valid = cifar10_set(rows(parts.valid), where, options, "valid", options.valid);
    }
  }
  if (const auto path = folder / "test_batch.bin"; fs::exists(path)) {
    splits.test = cifar10_set(samples_of(path.string()), path.string(), options, "test", options.test);
  }
  require<DataError>(splits.train || splits.test, folder.string(),
                     ": holds neither data_batch_1.bin .. data_batch_5.bin nor test_batch.bin");
  return splits;
}

std::shared_ptr<const Dataset> open_cifar10_file(const std::string& path, const ImageInput& input) {
  return std::make_shared<ImageSet>(samples_of(path), cifar10_kind(), input, path);
}

}  // namespace weyl
