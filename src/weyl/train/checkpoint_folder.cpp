#include "weyl/train/checkpoint_folder.h"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/sync_folder.h"

namespace weyl {
namespace fs = std::filesystem;
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
