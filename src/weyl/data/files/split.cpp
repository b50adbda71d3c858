#include "weyl/data/files/split.h"

#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/files/format_words.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"

namespace weyl {
namespace {

/// A file of samples that are no tensors yet, as carrier tensor files.
SplitIndices split_as_tensors(const std::string& path, const std::string& folder, const SplitOptions& options,
                              const Dataset& data) {
  return write_parts(folder, options, data.size(),
                     [&](const std::string& out, const std::vector<int64_t>& samples) {
                       write_tensor_file(out, data.batch(samples), data.schema(),
                                         split_metadata(path, options), Existing::keep);
                     });
}

}  // namespace

std::map<std::string, std::string> split_metadata(const std::string& path, const SplitOptions& options) {
  return {{"split_of", std::filesystem::path(path).filename().string()},
          {"split_seed", std::to_string(options.seed)}};
}

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

SplitIndices write_parts(
    const std::string& folder, const SplitOptions& options, int64_t size,
    const std::function<void(const std::string& path, const std::vector<int64_t>& samples)>& write) {
  SplitIndices parts = random_split(size, options);
  NewFiles files;
  const auto filled = add_parts(files, folder, parts, ".safetensors");
  files.write_each([&](size_t i) { write(files.path(i), *filled[i]); });
  return parts;
}

SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options) {
  require<DataError>(std::filesystem::exists(path), path, ": there is no such file");
  SplitIndices parts;
  const bool split = any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanSplit<Format>) {
      if (Format::takes(path, {})) {
        parts = Format::split(path, folder, options);
        return true;
      }
    } else if constexpr (AsTensors<Format>) {
      if (const OpenRequest request{.path = path}; Format::takes(path, request.options)) {
        parts = split_as_tensors(path, folder, options, *Format::open(request));
        return true;
      }
    }
    return false;
  });
  require<DataError>(split, "split: must be ", list_of_formats(FormatUse::split), ", got ", path);
  return parts;
}

}  // namespace weyl
