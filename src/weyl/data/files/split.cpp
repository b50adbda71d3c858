#include "weyl/data/files/split.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <filesystem>
#include <functional>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/sets/image_files.h"
#include "weyl/data/sets/nbody.h"

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

int64_t frames_in(const std::string& path) {
  const auto reader = open_frames(path);
  int64_t count = 0;
  for (AtomsFrame frame; reader->next(frame);) {
    ++count;
  }
  return count;
}

/// The parts that are not empty, in the order of the files that are added for them.
std::vector<const std::vector<int64_t>*> add_parts(NewFiles& files, const std::string& folder,
                                                   const SplitIndices& parts, const std::string& ending) {
  std::vector<const std::vector<int64_t>*> filled;
  for (const auto& [split, part] :
       {std::pair{"train", &parts.train}, {"valid", &parts.valid}, {"test", &parts.test}}) {
    if (!part->empty()) {
      files.add_split(folder, split, ending);
      filled.push_back(part);
    }
  }
  return filled;
}

SplitIndices split_frames(const std::string& path, const std::string& folder, const SplitOptions& options) {
  const int64_t size = frames_in(path);
  SplitIndices parts = random_split(size, options);
  NewFiles files;
  const auto filled = add_parts(files, folder, parts, ".extxyz");
  std::vector<size_t> file_of(static_cast<size_t>(size));
  for (size_t i = 0; i < filled.size(); ++i) {
    for (const int64_t frame : *filled[i]) {
      file_of[static_cast<size_t>(frame)] = i;
    }
  }
  files.keep_if([&] {
    std::vector<std::unique_ptr<ExtendedXyzWriter>> writers;
    for (size_t i = 0; i < filled.size(); ++i) {
      writers.push_back(std::make_unique<ExtendedXyzWriter>(files.path(i)));
    }
    const auto reader = open_frames(path);
    size_t i = 0;
    each_frame_for_xyz(*reader, {}, [&](const AtomsFrame& frame) {
      require<DataError>(i < file_of.size(), path, ": must not change while it is read");
      writers[file_of[i++]]->write(frame);
    });
    for (const auto& writer : writers) {
      writer->commit();
    }
    return true;
  });
  return parts;
}

}  // namespace

SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options) {
  if (holds_frames(path)) {
    return split_frames(path, folder, options);
  }
  const Source source = open_source(
      path, {{"split_of", fs::path(path).filename().string()}, {"split_seed", std::to_string(options.seed)}});
  SplitIndices parts = random_split(source.size, options);
  NewFiles files;
  const auto samples = add_parts(files, folder, parts, ".safetensors");
  files.write_each([&](size_t i) { source.write(files.path(i), *samples[i]); });
  return parts;
}

}  // namespace weyl
