#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/jobs.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"

namespace weyl {

/// How many samples of each split a maker is asked for.
struct SplitCounts {
  int64_t train = 0, valid = 0, test = 0;
};

/// FOLDER.partial, in which a maker keeps what is done until all is. DataError when it is there and is no folder of plain files.
inline std::string parts_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  fs::path parts = fs::path(folder).lexically_normal();
  if (!parts.has_filename()) {
    parts = parts.parent_path();
  }
  parts += ".partial";
  require_plain_files_in(parts.string(), "data make");
  return parts.string();
}

/// Makes the samples make(split, index) of all splits on `threads` threads (run_samples), then writes
/// `<folder>/<split><ending>` for each split of nonzero size by write(samples, split, path). Nothing is written
/// before all are made. False when stopped. ConfigError in the name of `maker`: all counts are 0, or a file is there
/// already (NewFiles).
template <class Make, class Write>
bool make_split_files(const char* maker, const SplitCounts& counts, const std::string& folder,
                      int64_t threads, const JobHooks& hooks, const Make& make, const Write& write,
                      const std::string& ending = ".safetensors") {
  using Sample = std::invoke_result_t<Make, const char*, int64_t>;
  NewFiles files;
  std::vector<const char*> splits;
  std::vector<int64_t> firsts;
  int64_t total = 0;
  for (const auto& [split, count] :
       {std::pair{"train", counts.train}, {"valid", counts.valid}, {"test", counts.test}}) {
    if (count > 0) {
      files.add_split(folder, split, ending);
      splits.push_back(split);
      firsts.push_back(total);
      total += count;
    }
  }
  require<ConfigError>(total > 0, maker, ": train, valid and test are all 0, there is nothing to make");
  std::vector<Sample> made(total);
  const bool whole = run_samples(total, threads, hooks, [&](int64_t i, const auto&) {
    const auto part = std::upper_bound(firsts.begin(), firsts.end(), i) - firsts.begin() - 1;
    made[i] = make(splits[part], i - firsts[part]);
  });
  if (!whole) {
    return false;
  }
  firsts.push_back(total);
  files.write_each([&](size_t k) {
    write(std::span<const Sample>(made).subspan(firsts[k], firsts[k + 1] - firsts[k]), splits[k],
          files.path(k));
  });
  return true;
}

}  // namespace weyl
