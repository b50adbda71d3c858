#pragma once

#include <string>
#include <vector>

namespace weyl {

/// A folder made beside RUN/last, to take its place as a whole: RUN/last is complete at any instant, and the
/// one that was there becomes RUN/previous, which is complete at any instant too once there has been one. Without
/// `commit` the new folder is removed again.
class CheckpointFolder {
 public:
  /// Makes RUN/last.new, empty. DataError when it cannot be made.
  explicit CheckpointFolder(std::string run);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  const std::string& path() const { return path_; }
  void commit();

 private:
  std::string run_, path_;
};

/// The folders that a checkpoint may be in, newest first: RUN/last and RUN/previous, those that are there.
std::vector<std::string> checkpoint_folders(const std::string& run);

/// Removes what a killed process left of a checkpoint in the making. The run must be locked.
void clear_unfinished_checkpoint(const std::string& run);

}  // namespace weyl
