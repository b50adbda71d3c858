#include "weyl/study/sweep/folder_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// When a process began, in ticks since the machine did (the 22nd field of /proc/PID/stat): tells it from another that
/// has its number later. Empty: there is no such process, or it has ended and nobody has asked how.
std::string start_of(int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // a name may hold anything
  if (name_end == std::string::npos) {
    return "";
  }
  std::istringstream fields(line.substr(name_end + 1));
  std::string state, field;
  fields >> state;
  for (int i = 4; i <= 22; ++i) {
    fields >> field;
  }
  return state == "Z" || state == "X" ? "" : field;
}

struct Holder {
  std::string host, process, start;
};

Holder read_holder(const std::string& path) {
  std::istringstream words(read_file(path, 4096).text);
  Holder h;
  words >> h.host >> h.process >> h.start;
  return h;
}

bool is_gone(const Holder& h) {
  if (h.host != host_name()) {
    return h.host.empty();  // of a file that is no whole one, which no living process leaves
  }
  const auto process = parse_integer(h.process);
  return !process || start_of(*process) != h.start;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) : folder_(folder) {
  const std::string path = folder + "/.lock";
  file_ = open_plain(path, O_RDWR | O_CREAT);
  int fault = 0;
  while ((fault = flock(file_, LOCK_EX)) != 0 && errno == EINTR) {
  }
  if (fault != 0) {
    const int reason = errno;
    close(file_);
    throw DataError(text(path, ": cannot be locked: ", std::strerror(reason)));
  }
}

FolderLock::~FolderLock() {
  flock(file_, LOCK_UN);  // also where close fails: this process may lock it again
  close(file_);
}

void FolderLock::write(const std::string& path, std::string_view contents) const {
  write_file_atomically(path, contents, Existing::replace_link);
}

void FolderLock::clear_unfinished() const {
  for (const std::string& place : {folder_, folder_ + "/runs"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
      // Beside the sweep's own files others may be writing theirs.
      const std::string name = entry.path().filename().string();
      if (place != folder_ || name.starts_with("runs.csv.") || name.starts_with("sweep.toml.")) {
        remove_if_unfinished(entry.path().string());
      }
    }
  }
}

std::string FolderLock::note() const {
  std::array<char, 256> bytes{};
  const ssize_t size = pread(file_, bytes.data(), bytes.size(), 0);
  require<DataError>(size >= 0, folder_, "/.lock: cannot be read: ", std::strerror(errno));
  return {bytes.data(), static_cast<size_t>(size)};
}

void FolderLock::set_note(const std::string& note) const {
  const auto size = static_cast<ssize_t>(note.size());
  // On the disk before the table is, of which it says that it is the sweep's own.
  const bool written = pwrite(file_, note.data(), note.size(), 0) == size && ftruncate(file_, size) == 0 &&
                       fdatasync(file_) == 0;
  require<DataError>(written, folder_, "/.lock: cannot be written: ", std::strerror(errno));
}

TrialLock::Taken TrialLock::take(const std::string& folder, const std::string& run, std::string& holder) {
  const FolderLock alone(folder);
  const std::string path = run + ".lock";
  if (access(path.c_str(), F_OK) == 0) {
    const Holder h = read_holder(path);
    if (!is_gone(h)) {
      holder = printable(h.host) + ", process " + printable(h.process);
      return Taken::elsewhere;
    }
  }
  const int64_t self = getpid();
  alone.write(path, text(host_name(), " ", self, " ", start_of(self), "\n"));
  return Taken::yes;
}

void TrialLock::give_back(const std::string& run) {
  unlink((run + ".lock").c_str());
}

bool TrialLock::drop_if_left(const std::string& folder, const std::string& run) {
  const std::string path = run + ".lock";
  if (access(path.c_str(), F_OK) != 0) {
    return true;
  }
  const FolderLock alone(folder);
  const bool held = access(path.c_str(), F_OK) == 0 && !is_gone(read_holder(path));
  if (!held) {
    unlink(path.c_str());
  }
  return !held;
}

}  // namespace weyl
