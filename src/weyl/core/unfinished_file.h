#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weyl {

/// The names of files in the making, PATH.<process>-<n>.tmp: what AtomicFile writes to before it renames, and what a
/// killed process leaves behind.
std::string unfinished_name(const std::string& path, unsigned number);

/// A file in the making: while this lives, `remove_unfinished_files` removes it. Beyond 64 at a time they are left.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

 private:
  size_t slot_ = 0;
};

/// Removes what this process has in the making, when a signal ends it: a handler may call this, nothing here takes a lock or
/// memory.
void remove_unfinished_files() noexcept;

/// The number of the process that such a name has in it; nothing for any other name.
std::optional<long> process_of_unfinished(std::string_view name);

}  // namespace weyl
