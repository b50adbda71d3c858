#include "weyl/train/checkpoint_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace fs = std::filesystem;
namespace {

void sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require<DataError>(folder >= 0, path, ": cannot be opened: ", std::strerror(errno));
  ::fsync(folder);  // not every file system can; the rename is atomic all the same
  ::close(folder);
}

void rename_folder(const std::string& from, const std::string& to) {
  require<DataError>(::rename(from.c_str(), to.c_str()) == 0, to, ": cannot be renamed from ", from, ": ",
                     std::strerror(errno));
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

CheckpointFolder::CheckpointFolder(std::string run) : run_(std::move(run)), path_(run_ + "/last.new") {
  remove_folder(path_);
  std::error_code error;
  fs::create_directory(path_, error);
  require<DataError>(!error, path_, ": folder cannot be made: ", error.message());
}

CheckpointFolder::~CheckpointFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void CheckpointFolder::commit() {
  const std::string last = run_ + "/last", previous = run_ + "/previous";
  sync_folder(path_);
  if (!fs::exists(last)) {
    rename_folder(path_, last);
  } else if (exchange_folders(path_, last)) {
    remove_folder(previous);
    rename_folder(path_, previous);
  } else {
    remove_folder(previous);
    rename_folder(last, previous);
    rename_folder(path_, last);
  }
  sync_folder(run_);
}

std::string newest_state(const std::string& run) {
  std::error_code error;
  for (const char* place : {"/last", "/previous"}) {
    const std::string file = run + place + "/state.safetensors";
    if (fs::is_regular_file(file, error)) {
      return file;
    }
  }
  throw DataError(text(run, ": must hold a checkpoint to resume from (last/state.safetensors), got none"));
}

}  // namespace weyl
