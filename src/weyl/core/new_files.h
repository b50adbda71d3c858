#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weyl {

/// The files that a maker, a split or a conversion is about to write, in folders of any depth: each with Existing::keep,
/// so that one that appears meanwhile is not replaced either.
class NewFiles {
 public:
  /// ConfigError: it is there already, and is never replaced.
  void add(const std::string& path);
  /// `<folder>/<split><ending>`.
  void add_split(const std::string& folder, const std::string& split,
                 const std::string& ending = ".safetensors");
  const std::string& path(size_t i) const { return paths_.at(i); }
  /// What says of the i-th file that this call has written it; for each i from any thread.
  using Written = std::function<void(size_t i)>;
  /// Makes the folders and calls `write`, which writes the files. When it returns false or throws, those that it has
  /// written are removed, with the folders that were made, and what others have put there stays. DataError: a folder
  /// cannot be made.
  bool keep_if(const std::function<bool(const Written& written)>& write) const;
  /// The same with write(i) for each file in turn, which has written it when it returns.
  void write_each(const std::function<void(size_t i)>& write) const;

 private:
  std::vector<std::string> paths_;
};

}  // namespace weyl
