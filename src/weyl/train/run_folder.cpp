#include "weyl/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace fs = std::filesystem;
namespace {

void make_parents(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
    require<DataError>(!error, path.parent_path().string(), ": folder cannot be made: ", error.message());
  }
}

// What mkdir did: true when it made the folder, false when something has that name already.
bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) {
    return true;
  }
  require<DataError>(errno == EEXIST, path, ": folder cannot be made: ", std::strerror(errno));
  return false;
}

// No entries but the lock that an earlier attempt left.
bool is_unused(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return false;
  }
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().filename() != ".lock") {
      return false;
    }
  }
  return !error;
}

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  const std::string name = file(".lock");
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require<DataError>(lock_ >= 0, name, ": cannot be opened for writing: ", std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
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
    make_parents(out);
    if (!make_folder(out)) {
      require_new(out);
    }
    return RunFolder(out);
  }
  for (int number = 1;; ++number) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, "-%03d", number);
    const std::string path = "runs/" + name + suffix;
    make_parents(path);
    if (make_folder(path)) {
      return RunFolder(path);
    }
  }
}

RunFolder RunFolder::open(const std::string& path) {
  std::error_code error;
  require<DataError>(fs::is_directory(path, error), path, ": must be a run folder, got ",
                     fs::exists(path, error) ? "a file" : "nothing");
  require<DataError>(is_run_folder(path), path, ": must be a run folder, but has no config.toml");
  return RunFolder(path);
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

}  // namespace weyl
