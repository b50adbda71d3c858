#pragma once

#include <string>
#include <string_view>

namespace weyl {

/// While one lives no other process, on this machine or on one that shares the folder, has another of the same folder:
/// a file `.lock` in it is locked (flock). For moments: the next one waits. What the processes of a sweep write into its
/// folder and into FOLDER/runs they write while they hold one. DataError when the file cannot be made or locked.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Writes a file of the folder, whole; a link is replaced.
  void write(const std::string& path, std::string_view contents) const;
  /// Removes what killed processes have left of files that they were writing so.
  void clear_unfinished() const;

  /// What the file `.lock` holds, for whoever has the lock next.
  std::string note() const;
  void set_note(const std::string& note) const;

 private:
  std::string folder_;
  int file_ = -1;
};

/// Who works on a trial: the file ID.lock beside its run folder, with host, process and the time at which that began.
class TrialLock {
 public:
  enum class Taken { yes, elsewhere };

  /// Takes the lock of the trial whose run folder is `run`, in a sweep's `folder`. A lock that a process of this host
  /// left, which is no more, is taken over. `holder` says who has it otherwise: "node3, process 4711".
  static Taken take(const std::string& folder, const std::string& run, std::string& holder);
  /// Removes it.
  static void give_back(const std::string& run);
  /// Removes one that a process of this host left, which is no more: killed after its training had ended, say. Returns whether
  /// nobody works on the trial.
  static bool drop_if_left(const std::string& folder, const std::string& run);
};

}  // namespace weyl
