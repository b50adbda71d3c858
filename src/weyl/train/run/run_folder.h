#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// The folder of one run: config.toml (resolved), environment.json, log.txt, metrics.csv, timing.csv, TensorBoard
/// events, result.json (what `weyl train --json` says at its end), the checkpoints last/, previous/ and best/, plots/,
/// README.md. It is never overwritten. While an object lives, the folder is locked (flock, by all processes of one
/// machine), so that two trainings cannot share it. The lock ends with the process, however that ends.
class RunFolder {
 public:
  /// Makes a new folder: `out` or, when that is empty, the first free one of runs/<name>-001, -002, ... `out` must not
  /// exist yet, or hold nothing but what a killed process left before its config.toml was there, which is removed (else
  /// ConfigError).
  /// DataError: the folder cannot be made, or another training is using it.
  static RunFolder create(const std::string& out, const std::string& name);

  /// The check of `create` that can be made before anything costly: ConfigError when `out` exists and is used.
  static void require_new(const std::string& out);

  /// Opens an existing run folder. DataError: no such folder; no config.toml in it; another training is using it; a
  /// name that a training writes in it stands for something else than a plain file or folder (core/own_folder.h).
  static RunFolder open(const std::string& path);

  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  /// Removes the unfinished files (AtomicFile, CheckpointFolder) that killed processes left here, in best/ and in
  /// plots/, and no others. In plots/ those of living processes stay, because `weyl plot` may be drawing there without
  /// the lock.
  void clear_litter() const;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit RunFolder(std::string path);
  std::string path_;
  int lock_ = -1;
};

/// Whether a path is a folder that `create` made.
bool is_run_folder(const std::string& path);

/// The name of a run in tables and pictures: the name of its folder.
std::string run_name(const std::string& run);

/// The name of the CPU, which environment.json records beside what the engine adds.
std::string cpu_name();

/// A folder made beside RUN/last, to take its place as a whole. RUN/last is complete at any instant. The one that was
/// there becomes RUN/previous, which, once there has been one, is complete at any instant, too. Without `commit` the
/// new folder is removed again.
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

/// The folders that may hold a checkpoint, newest first: RUN/last and RUN/previous, whichever exist.
std::vector<std::string> checkpoint_folders(const std::string& run);

/// Removes the unfinished checkpoint that a killed process left. The run must be locked.
void clear_unfinished_checkpoint(const std::string& run);

}  // namespace weyl
