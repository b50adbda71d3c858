#pragma once

#include <string>

namespace weyl {

/// A folder made beside RUN/last, to take its place as a whole: RUN/last is complete at any instant, and the
/// one that was there becomes RUN/previous. Without `commit` the new folder is removed again.
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

/// state.safetensors of the newest checkpoint of a run: RUN/last, or RUN/previous when there is no `last` (on
/// a file system that cannot exchange two folders, for an instant). DataError when there is neither.
std::string newest_state(const std::string& run);

}  // namespace weyl
