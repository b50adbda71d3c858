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

/// The files `<folder>/<split><ending>` of the splits of nonzero size, with their counts. ConfigError in the name of `maker`: all
/// counts are 0, or a file is there already (NewFiles).
struct SplitFiles {
  NewFiles files;
  std::vector<std::pair<const char*, int64_t>> splits;
  int64_t total = 0;

  SplitFiles(const char* maker, const SplitCounts& counts, const std::string& folder,
             const std::string& ending) {
    for (const auto& [split, count] :
         {std::pair{"train", counts.train}, {"valid", counts.valid}, {"test", counts.test}}) {
      if (count > 0) {
        files.add_split(folder, split, ending);
        splits.emplace_back(split, count);
        total += count;
      }
    }
    require<ConfigError>(total > 0, maker, ": train, valid and test are all 0, there is nothing to make");
  }
};

/// Makes the samples make(split, index) of all splits on `threads` threads (run_samples), then writes
/// `<folder>/<split><ending>` for each split of nonzero size by write(samples, split, path). Nothing is written
/// before all are made. False when stopped. ConfigError in the name of `maker`: all counts are 0, or a file is there
/// already (NewFiles).
template <class Make, class Write>
bool make_split_files(const char* maker, const SplitCounts& counts, const std::string& folder,
                      int64_t threads, const JobHooks& hooks, const Make& make, const Write& write,
                      const std::string& ending = ".safetensors") {
  using Sample = std::invoke_result_t<Make, const char*, int64_t>;
  const SplitFiles to(maker, counts, folder, ending);
  const int64_t total = to.total;
  std::vector<int64_t> firsts;
  int64_t before = 0;
  for (const auto& [split, count] : to.splits) {
    firsts.push_back(before);
    before += count;
  }
  std::vector<Sample> made(total);
  const bool whole = run_samples(total, threads, hooks, [&](int64_t i, const auto&) {
    const auto part = std::upper_bound(firsts.begin(), firsts.end(), i) - firsts.begin() - 1;
    made[i] = make(to.splits[static_cast<size_t>(part)].first, i - firsts[part]);
  });
  if (!whole) {
    return false;
  }
  firsts.push_back(total);
  to.files.write_each([&](size_t k) {
    write(std::span<const Sample>(made).subspan(firsts[k], firsts[k + 1] - firsts[k]), to.splits[k].first,
          to.files.path(k));
  });
  return true;
}

/// The same for files that can be written sample by sample: `open(path)` gives a writer with `write(sample)` and `commit()`,
/// without which its file does not appear. Some thousand samples are in memory at a time. When stopped, or when a sample cannot be
/// made, no file is left.
template <class Make, class Open>
bool stream_split_files(const char* maker, const SplitCounts& counts, const std::string& folder,
                        int64_t threads, const JobHooks& hooks, const Make& make, const Open& open,
                        const std::string& ending) {
  using Sample = std::invoke_result_t<Make, const char*, int64_t>;
  constexpr int64_t at_once = 1024;
  const SplitFiles to(maker, counts, folder, ending);
  return to.files.keep_if([&](const NewFiles::Written& written) {
    int64_t done = 0;
    JobHooks some = hooks;
    if (hooks.report) {
      some.report = [&](int64_t of_these, int64_t /*these*/) { hooks.report(done + of_these, to.total); };
    }
    for (size_t k = 0; k < to.splits.size(); ++k) {
      const auto& [split, count] = to.splits[k];
      auto writer = open(to.files.path(k));
      for (int64_t first = 0; first < count; first += at_once) {
        std::vector<Sample> made(static_cast<size_t>(std::min(at_once, count - first)));
        if (hooks.stop && hooks.stop()) {  // which run_samples does not ask of what takes less than its 0.1 s
          return false;
        }
        if (!run_samples(std::ssize(made), threads, some, [&, name = split](int64_t i, const auto&) {
              made[static_cast<size_t>(i)] = make(name, first + i);
            })) {
          return false;
        }
        for (const Sample& sample : made) {
          writer.write(sample);
        }
        done += std::ssize(made);
      }
      writer.commit();
      written(k);
    }
    return true;
  });
}

}  // namespace weyl
