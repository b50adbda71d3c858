#include "weyl/train/run/run_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <utility>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/own_folder.h"

namespace weyl {
namespace fs = std::filesystem;
namespace {

// No entries but those of an earlier attempt that was killed before its config.toml was whole (".lock": of older
// versions). DataError when the disk does not say.
bool is_unused(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto readable = [&](bool is) {
    require<DataError>(is, path, ": folder cannot be read: ", error.message());
  };
  readable(fs::status_known(status) || error == std::errc::too_many_symbolic_link_levels);
  if (!fs::is_directory(status)) {
    return false;
  }
  auto entry = fs::directory_iterator(path, error);
  readable(!error);
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name != ".lock" && !process_of_unfinished(name)) {
      return false;
    }
  }
  readable(!error);
  return true;
}

// What a run writes under a name of its own; in plots/ whatever has a picture's name is replaced, links too.
// A file in the place of plots/ is found when pictures are drawn, and no fault of a training.
struct Written {
  const char* name;
  Plain kind = Plain::file;
};
constexpr Written written[] = {{"config.toml"},
                               {"environment.json"},
                               {"README.md"},
                               {"log.txt"},
                               {"metrics.csv"},
                               {"timing.csv"},
                               {"best", Plain::folder},
                               {"best/model.safetensors"},
                               {"result.json"},
                               {"plots", Plain::either},
                               {"events.out.tfevents.0.weyl"}};

bool is_another_living_process(long process) {
  return process != ::getpid() && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require<DataError>(lock_ >= 0, path_, ": folder cannot be opened: ", std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(lock_);
    require<DataError>(reason == EWOULDBLOCK, path_, ": cannot be locked: ", std::strerror(reason));
    throw DataError(
        text(path_, ": must be used by one training at a time, but another one is running in it"));
  }
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

void RunFolder::require_new(const std::string& out) {
  std::error_code error;
  require<ConfigError>(out.empty() || !fs::exists(fs::symlink_status(out, error)) || is_unused(out), "--out ",
                       out, ": must not exist yet; a run is never overwritten (`weyl train --resume ", out,
                       "` continues one)");
}

RunFolder RunFolder::create(const std::string& out, const std::string& name) {
  if (!out.empty()) {
    if (!make_new_folder(out)) {
      require_new(out);
    }
    RunFolder run(out);
    require_new(out);  // another training may have begun and ended in it since
    run.clear_litter();
    return run;
  }
  for (int number = 1;; ++number) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, "-%03d", number);
    const std::string path = "runs/" + name + suffix;
    if (make_new_folder(path)) {
      return RunFolder(path);
    }
  }
}

RunFolder RunFolder::open(const std::string& path) {
  std::error_code error;
  require<DataError>(fs::is_directory(path, error), path, ": must be a run folder, got ",
                     fs::exists(path, error) ? "a file" : "nothing");
  require<DataError>(
      is_run_folder(path), path, ": must be a run folder, but has no config.toml",
      is_unused(path) ? text("; begin one in it with `weyl train CONFIG --out ", path, "`") : "");
  for (const auto& [name, kind] : written) {
    require_plain(path + "/" + name, kind, "a run");
  }
  return RunFolder(path);
}

void RunFolder::clear_litter() const {
  clear_unfinished_checkpoint(path_);
  for (const char* place : {"", "best", "plots"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(file(place), error)) {
      const std::string name = entry.path().filename().string();
      const std::optional<long> process = process_of_unfinished(name);
      if (process && !(std::string_view(place) == "plots" && is_another_living_process(*process))) {
        remove_if_unfinished(entry.path().string());
      }
    }
  }
}

std::string run_name(const std::string& run) {
  const fs::path path = fs::path(run).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

bool is_run_folder(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / "config.toml", error);
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

namespace {

constexpr const char* in_the_making = "/last.new";

void sync(const std::string& folder) {
  require<DataError>(sync_folder(folder), folder, ": cannot be synced: ", std::strerror(EIO));
}

void rename_folder(const std::string& from, const std::string& to) {
  const bool renamed = ::rename(from.c_str(), to.c_str()) == 0;
  require<DataError>(renamed, to, ": cannot be renamed from ", from, ": ", std::strerror(errno));
}

// Both names keep a folder at any instant. False where the system has no such call.
bool exchange_folders(const std::string& a, const std::string& b) {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

void remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  require<DataError>(!error, path, ": cannot be removed: ", error.message());
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string run) : run_(std::move(run)), path_(run_ + in_the_making) {
  remove_folder(path_);
  std::error_code error;
  fs::create_directory(path_, error);
  require<DataError>(!error, path_, ": folder cannot be made: ", error.message());
}

CheckpointFolder::~CheckpointFolder() {
  try {
    std::error_code error;
    fs::remove_all(path_, error);
  } catch (const std::bad_alloc&) {  // a destructor must not throw: the folder is left, and cleared on resume
  }
}

void CheckpointFolder::commit() {
  const std::string last = run_ + "/last", previous = run_ + "/previous";
  sync(path_);
  if (!fs::exists(last)) {
    rename_folder(path_, last);
  } else if (exchange_folders(path_, last)) {
    // `path_` holds now the checkpoint that was the last; the oldest of the three is what goes.
    if (exchange_folders(path_, previous)) {
      remove_folder(path_);
    } else {
      remove_folder(previous);
      rename_folder(path_, previous);
    }
  } else {
    remove_folder(previous);
    rename_folder(last, previous);
    rename_folder(path_, last);
  }
  sync(run_);
}

std::vector<std::string> checkpoint_folders(const std::string& run) {
  std::vector<std::string> folders;
  for (const char* place : {"/last", "/previous"}) {
    std::error_code error;  // of one that cannot be looked at, reading will say why
    if (fs::symlink_status(run + place, error).type() != fs::file_type::not_found) {
      folders.push_back(run + place);
    }
  }
  return folders;
}

void clear_unfinished_checkpoint(const std::string& run) {
  remove_folder(run + in_the_making);
}

}  // namespace weyl
