#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weyl/core/atomic_file.h"

namespace weyl {

/// Which files the outputs of a call may replace: none, or, where the user forces it, all but the call's own inputs.
class Overwrite {
 public:
  Overwrite() = default;  // none
  /// `inputs` are files and folders; a folder stands for everything in it, at any depth. Paths that do not exist are
  /// left out.
  Overwrite(bool forced, const std::vector<std::string>& inputs);

  /// Adds an input. Files are told apart by device and number, not by name, so that a link does not hide an input.
  void add_input(const std::string& path);

  /// How `path` is to be written. ConfigError when it exists and must not be replaced.
  Existing at(const std::string& path) const;

 private:
  bool forced_ = false;
  std::set<std::pair<unsigned long, unsigned long>> inputs_;  // device and number of each file or folder
};

/// The files that a maker, a split or a conversion is about to write, in folders of any depth. Each is to be written
/// with Existing::keep, so that one that appears meanwhile is not replaced either.
class NewFiles {
 public:
  /// Adds a file. ConfigError when it exists: it is never replaced.
  void add(const std::string& path);
  /// Adds `<folder>/<split><ending>`.
  void add_split(const std::string& folder, const std::string& split,
                 const std::string& ending = ".safetensors");
  const std::string& path(size_t i) const { return paths_.at(i); }
  /// Tells that this call has written the i-th file; to be called once for each i, from any thread.
  using Written = std::function<void(size_t i)>;
  /// Makes the folders and calls `write`, which writes the files. Returns what `write` returns. When `write` returns
  /// false or throws, the files that it has written are removed, and so are the folders that were made; what others
  /// have put there stays. DataError: a folder cannot be made.
  bool keep_if(const std::function<bool(const Written& written)>& write) const;
  /// Does the same with write(i) for each file in turn; a file counts as written when its call returns.
  void write_each(const std::function<void(size_t i)>& write) const;

 private:
  std::vector<std::string> paths_;
};

}  // namespace weyl
