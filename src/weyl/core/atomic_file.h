#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weyl/core/unfinished_file.h"

namespace weyl {

/// What becomes of what already has a file's name.
enum class Existing {
  replace,       // a file is replaced; of a symbolic link the target is, and the link stays
  replace_link,  // a file is replaced; so is a symbolic link, whose target is left alone
  keep,          // nothing may be there: ConfigError at once, and when it appears later instead of the commit
};

/// A file under a temporary name (PATH.<process>-<n>.tmp) beside its place until `commit` syncs it, renames
/// it and syncs the folder: PATH is whole or untouched, also when the disk is full or the process dies.
/// Without a commit the destructor removes the temporary file, and `remove_unfinished_files` when a signal ends the
/// process. Every member throws DataError with PATH and the system's reason (no space left, read-only, no permission).
/// A process that may meet a file size limit (ulimit -f) must ignore SIGXFSZ to see an error instead of dying.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, Existing existing = Existing::replace);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  bool put_in_place() const;

  std::string path_;
  Existing existing_;
  std::string target_, temporary_;
  std::optional<UnfinishedFile> unfinished_;
  int descriptor_ = -1;
};

/// Writes one text that way.
void write_file_atomically(const std::string& path, std::string_view contents,
                           Existing existing = Existing::replace);

}  // namespace weyl
