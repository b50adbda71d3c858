#include "weyl/data/split.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/sets/image_files.h"
#include "weyl/data/sets/nbody.h"
#include "weyl/data/split_files.h"
#include "weyl/data/tensor_format.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

using Write = std::function<void(const std::string& path, const std::vector<int64_t>& samples)>;

/// How many samples a file has and how some of them are written.
struct Source {
  int64_t size = 0;
  Write write;
};

Source open_source(const std::string& path, std::map<std::string, std::string> added) {
  if (const auto images = open_image_file(path, {})) {
    return {images->size(), [images, added](const std::string& out, const std::vector<int64_t>& samples) {
              write_tensor_file(out, images->batch(samples), images->schema(), added);
            }};
  }
  const SafetensorsFile file(path);
  std::map<std::string, std::string> metadata = file.header().metadata;
  metadata.insert(added.begin(), added.end());
  const auto format = metadata.find("format");
  if (format != metadata.end() && format->second == nbody_format) {
    metadata.erase("first_simulation");  // no longer consecutive
    metadata.erase("split");
    open_nbody_file(path, {.input_frame = 0, .target_frame = 1}, false);  // checks the shapes
    auto tensors = load_tensors(file);
    const int64_t size = tensors.at("charges").size(0);
    return {size, [tensors = std::move(tensors), metadata](const std::string& out,
                                                           const std::vector<int64_t>& samples) {
              NamedTensors part;
              const Tensor rows = at::tensor(samples, at::kLong);
              for (const auto& [name, t] : tensors) {
                part[name] = at::index_select(t, 0, rows);
              }
              save_tensors(out, part, metadata);
            }};
  }
  auto all = std::make_shared<TensorFile>(read_tensor_file(path));
  metadata.erase("format");
  return {all->batch.count(), [all, metadata](const std::string& out, const std::vector<int64_t>& samples) {
            write_tensor_file(out, take(all->batch, samples, all->schema), all->schema, metadata);
          }};
}

}  // namespace

SplitIndices random_split(int64_t size, const SplitOptions& options) {
  require<ConfigError>(options.train >= 0 && options.valid >= 0 && options.train + options.valid <= 1 + 1e-12,
                       "split: train and valid must be fractions that add up to at most 1, got ",
                       options.train, " and ", options.valid);
  const auto count = [&](double fraction) {
    return static_cast<int64_t>(std::llround(fraction * static_cast<double>(size)));
  };
  const std::vector<int64_t> order = Stream(static_cast<uint64_t>(options.seed), "split").permutation(size);
  const int64_t train = std::min(count(options.train), size),
                valid = std::min(count(options.valid), size - train);
  const auto part = [&](int64_t begin, int64_t end) {
    std::vector<int64_t> result(order.begin() + begin, order.begin() + end);
    std::sort(result.begin(), result.end());
    return result;
  };
  return {part(0, train), part(train, train + valid), part(train + valid, size)};
}

SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options) {
  const Source source = open_source(
      path, {{"split_of", fs::path(path).filename().string()}, {"split_seed", std::to_string(options.seed)}});
  SplitIndices parts = random_split(source.size, options);
  std::vector<SplitFile> files;
  std::vector<const std::vector<int64_t>*> samples;
  const auto add = [&](const char* split, const std::vector<int64_t>& part) {
    if (!part.empty()) {
      files.push_back(new_split_file(folder, split));
      samples.push_back(&part);
    }
  };
  add("train", parts.train);
  add("valid", parts.valid);
  add("test", parts.test);
  write_split_files(folder, files, [&](size_t i) { source.write(files[i].path, *samples[i]); });
  return parts;
}

}  // namespace weyl
