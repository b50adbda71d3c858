#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weyl {

/// The files that a maker is about to write, in folders of any depth.
class NewFiles {
 public:
  /// ConfigError: it is there already, and is never replaced.
  void add(const std::string& path);
  /// Makes the folders and calls `write`, which writes the files. When it returns false or throws, those that
  /// are there are removed, with the folders that were made. DataError: a folder cannot be made.
  bool keep_if(const std::function<bool()>& write) const;

 private:
  std::vector<std::string> paths_;
};

}  // namespace weyl
