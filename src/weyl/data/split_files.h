#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace weyl {

struct SplitFile {
  std::string split, path;
};

/// `<folder>/<split>.safetensors`. ConfigError: it is there already.
SplitFile new_split_file(const std::string& folder, const std::string& split);

/// Makes the folder and calls write(i) for each file in turn. When one throws, those written before are
/// removed. DataError: the folder cannot be made.
void write_split_files(const std::string& folder, std::span<const SplitFile> files,
                       const std::function<void(size_t i)>& write);

}  // namespace weyl
