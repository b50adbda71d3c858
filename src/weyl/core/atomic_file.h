#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weyl {

/// Writes the names in a folder ("": the current one) to the disk, so that a file or folder that was made or renamed in
/// it survives a power failure. Returns false when the disk fails. A file system that cannot sync folders, and a folder
/// that may not be read, count as done.
bool sync_folder(const std::string& folder);

/// The name of an unfinished file, PATH.<process>-<n>.tmp. AtomicFile writes to it before it renames it, and a killed
/// process leaves it behind.
std::string unfinished_name(const std::string& path, unsigned number);

/// Registers an unfinished file: while this object lives, `remove_unfinished_files` removes the file. Of more than 64
/// at a time the others are not registered.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

 private:
  size_t slot_ = 0;
};

/// Removes this process's registered unfinished files. A signal handler may call it: it takes no lock and no memory.
void remove_unfinished_files() noexcept;

/// The process number in a name that `unfinished_name` made; nothing for any other name.
std::optional<long> process_of_unfinished(std::string_view name);

/// What happens to a file that already has the name.
enum class Existing {
  replace,       // a file is replaced; of a symbolic link the target is replaced, and the link stays
  replace_link,  // a file is replaced, and so is a symbolic link; its target is left alone
  keep,          // nothing may have the name: ConfigError at once, or by `commit` if something has it by then
};

/// A file that replaces PATH in one step. It is written under a temporary name (PATH.<process>-<n>.tmp) beside its
/// place; `commit` syncs it, renames it and syncs the folder. So PATH is whole or untouched, also when the disk is full
/// or the process dies. Without a commit the destructor removes the temporary file; `remove_unfinished_files` removes
/// it when a signal ends the process.
///
/// Every member throws DataError with PATH and the system's reason (no space left, read-only, no permission). A process
/// that may meet a file size limit (ulimit -f) must ignore SIGXFSZ, or it dies instead of seeing an error.
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

/// Writes a text through an AtomicFile.
void write_file_atomically(const std::string& path, std::string_view contents,
                           Existing existing = Existing::replace);

}  // namespace weyl
