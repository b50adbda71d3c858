#pragma once

#include <string>
#include <string_view>

namespace weyl {

/// The folder of one run: config.toml (resolved), environment.json, log.txt, metrics.csv, timing.csv,
/// TensorBoard events, result.json (what `weyl train --json` says at its end), last/ previous/ best/ checkpoints, plots/, README.md. Never overwritten. While one of
/// these objects lives the folder itself is locked (flock, by all processes of one machine): two trainings cannot
/// share it. The lock ends with the process, however it ends.
class RunFolder {
 public:
  /// A new folder: `out`, which must not exist yet or hold nothing but what a killed process left before its
  /// config.toml was there (ConfigError), or, when `out` is empty, the first free one of runs/<name>-001, -002,
  /// ... DataError when it cannot be made or another training is using it.
  static RunFolder create(const std::string& out, const std::string& name);

  /// The part of `create` that can be asked before anything costly: ConfigError when `out` is there and used.
  static void require_new(const std::string& out);

  /// An existing one. DataError: no such folder, no config.toml in it, another training is using it, or a name that a
  /// training writes in it is a symbolic link, by which a folder from others could have any file overwritten.
  static RunFolder open(const std::string& path);

  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  /// Removes the files in the making (AtomicFile, CheckpointFolder) that killed processes left here, in best/ and in
  /// plots/, and no others. In plots/, which `weyl plot` may be drawing into without the lock, those of processes
  /// that are alive stay.
  void clear_litter() const;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit RunFolder(std::string path);
  std::string path_;
  int lock_ = -1;
};

/// DataError when a file or folder that a run writes is a symbolic link.
void require_no_link(const std::string& path);

/// Whether a path is a folder that `create` made.
bool is_run_folder(const std::string& path);

/// The name of a run in tables and pictures: that of its folder.
std::string run_name(const std::string& run);

/// The machine as environment.json records it beside what the engine adds: "Name of the CPU".
std::string cpu_name();

}  // namespace weyl
