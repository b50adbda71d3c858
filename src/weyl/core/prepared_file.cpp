#include "weyl/core/prepared_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/input_file.h"
#include "weyl/core/own_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "prepared_of";
constexpr const char* kState = "prepared_state";
constexpr const char* kBeside = ".weyl";
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr size_t kPart = 4096;
constexpr uint64_t kMostParts = 64, kLeastParts = 3, kPartsOfAll = 1024;

/// weyl/ in the user's cache folder; empty: there is none.
std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {  // another is to be ignored, by the specification
    return std::string(cache) + "/weyl";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/weyl" : "";
}

TurnHooks turn_hooks;

bool is_foreign(const struct stat& status, const std::vector<uint64_t>& owners) {
  return !owners.empty() && std::ranges::find(owners, status.st_uid) == owners.end();
}

/// Why the file at a path is not to be believed; empty: it is, or there is none.
std::string distrust(const std::string& path, bool ours, const std::vector<uint64_t>& owners) {
  struct stat status{};
  const std::string folder = fs::path(path).parent_path().string();
  if (ours && ::lstat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    return folder + ": must be a folder, and no link to one";
  }
  if (::lstat(path.c_str(), &status) != 0) {
    return "";
  }
  if (!S_ISREG(status.st_mode)) {
    return path + ": must be a plain file";
  }
  return is_foreign(status, owners) ? path + ": belongs to another user" : "";
}

std::string size_and_time(const std::string& path) {
  std::error_code error;
  return text(fs::file_size(path, error), " ", fs::last_write_time(path, error).time_since_epoch().count());
}

uint64_t hash_of_parts(const std::string& path, uint64_t places) {
  const InputFile file(path);
  std::vector<std::byte> part(kPart);
  uint64_t hash = 0, end = 0;
  const uint64_t last = file.size() - std::min<uint64_t>(file.size(), kPart);
  for (uint64_t i = 0; i < places; ++i) {
    const auto begin =
        std::max(end, static_cast<uint64_t>(static_cast<double>(last) * static_cast<double>(i) /
                                            static_cast<double>(places - 1)));
    const size_t read = file.read(begin, part);
    hash = checksum_number(std::span(part).first(read), hash);
    end = begin + read;
  }
  return hash;
}

}  // namespace

PreparedFile::PreparedFile(const std::string& path, std::string key) : key_(std::move(key)) {
  if (!path.empty()) {
    places_.push_back({path, path + ".lock"});
  }
}

void PreparedFile::Place::make_its_folder() const {
  const std::string folder = fs::path(path).parent_path().string();
  make_folder(folder);
  if (ours) {
    require_plain(folder, Plain::folder, "what is prepared of data");
  }
}

PreparedFile PreparedFile::beside(const std::string& of, const std::string& kind, std::string key,
                                  std::string state) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(of, error);
  struct stat status{};
  if (error || ::stat(of.c_str(), &status) != 0) {
    return {};
  }
  const auto hashed = [](const std::string& what) { return checksum(std::as_bytes(std::span(what))); };
  const std::string group = text(place.filename().string(), ".", hashed(place.string()), ".");
  const std::string name = text(group, hashed(kind), ".safetensors");
  PreparedFile file;
  const auto add = [&](const fs::path& folder) {
    file.places_.push_back({(folder / name).string(), (folder / (group + "lock")).string(), true, group});
  };
  add(place.parent_path() / kBeside);
  if (const std::string cache = cache_folder(); !cache.empty()) {
    add(cache);
  }
  file.key_ = std::move(key);
  file.state_ = std::move(state);
  file.owners_ = {::geteuid(), 0, status.st_uid};
  return file;
}

std::unique_ptr<const SafetensorsFile> PreparedFile::open(std::string* fault) const {
  for (const Place& place : places_) {
    std::string wrong = distrust(place.path, place.ours, owners_);
    std::error_code error;
    if (wrong.empty() && !fs::exists(place.path, error)) {
      continue;
    }
    if (wrong.empty()) {
      try {
        auto file = std::make_unique<SafetensorsFile>(place.path);
        const auto& metadata = file->header().metadata;
        const auto key = metadata.find(kKey);
        if (key != metadata.end() && key->second == key_ && file->header().has_checksums) {
          return file;
        }
        wrong = place.path + ": was made of other files, before they changed or by another version";
      } catch (const DataError& broken) {
        wrong = broken.what();
      }
    }
    if (fault != nullptr && fault->empty()) {
      *fault = std::move(wrong);
    }
  }
  return nullptr;
}

std::string PreparedFile::save(const Write& write) const {
  std::string fault;
  for (const Place& place : places_) {
    try {
      place.make_its_folder();
      struct stat status{};
      require<DataError>(::lstat(place.path.c_str(), &status) != 0 || !is_foreign(status, owners_),
                         place.path, ": belongs to another user");
      Metadata metadata{{kKey, key_}};
      if (!state_.empty()) {
        metadata[kState] = state_;
      }
      write(place.path, metadata);
      clear(place);
      return "";
    } catch (const DataError& error) {
      // The next place, or none: a full or read-only disk costs time, and no more.
      fault += text(fault.empty() ? "" : "; ", error.what());
    }
  }
  return places_.empty() ? "there is no place for it" : fault;
}

std::string PreparedFile::save(std::span<const TensorBytes> tensors, Metadata metadata) const {
  return save([&](const std::string& path, const Metadata& key) {
    metadata.insert(key.begin(), key.end());
    write_safetensors(path, tensors, metadata, Existing::replace_link);
  });
}

/// Removes what this user has kept of the same in another state, and what processes that are gone left unfinished an hour ago or
/// before (those of another host may live).
void PreparedFile::clear(const Place& place) const {
  if (state_.empty() || place.group.empty()) {
    return;
  }
  std::error_code error;
  for (fs::directory_iterator at(fs::path(place.path).parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string(), name = at->path().filename().string();
    struct stat status{};
    if (!name.starts_with(place.group) || ::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid()) {
      continue;
    }
    std::error_code ignored;
    if (const auto process = process_of_unfinished(name)) {
      const bool old =
          fs::file_time_type::clock::now() - fs::last_write_time(path, ignored) > std::chrono::hours(1);
      if (old && ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH) {
        remove_if_unfinished(path);
      }
    } else if (name.ends_with(".safetensors")) {
      try {
        const auto metadata = SafetensorsFile(path).header().metadata;
        const auto state = metadata.find(kState);
        if (state != metadata.end() && state->second != state_) {
          fs::remove(path, ignored);
        }
      } catch (const DataError&) {  // broken: whoever asks for it makes it anew in its place
      }
    }
  }
}

void set_turn_hooks(TurnHooks to) {
  turn_hooks = std::move(to);
}

PreparedFile::Turn::Turn(const PreparedFile& file, std::chrono::milliseconds longest) {
  for (const Place& place : file.places_) {
    try {
      place.make_its_folder();
      descriptor_ = open_plain(place.lock, O_RDWR | O_CREAT);
    } catch (const DataError&) {
      continue;
    }
    try {
      if (wait(place.lock, longest)) {
        return;
      }
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    ::close(descriptor_);
    descriptor_ = -1;
    return;
  }
}

/// Whether it is this one's turn; else nobody is waited for.
bool PreparedFile::Turn::wait(const std::string& path, std::chrono::milliseconds longest) const {
  const auto makers_without = [&] {
    struct stat status{};
    return ::fstat(descriptor_, &status) == 0 ? status.st_size : 0;
  };
  const auto before = makers_without();
  const auto begin = std::chrono::steady_clock::now();
  auto pause = std::chrono::milliseconds(1);
  for (bool said = false; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0;) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || makers_without() != before ||
        std::chrono::steady_clock::now() - begin >= longest) {
      return false;
    }
    if (turn_hooks.say && !said && pause >= kPause) {
      turn_hooks.say(path + ": waiting for another process, which reads the same data");
      said = true;
    }
    if (turn_hooks.stop && turn_hooks.stop()) {
      throw TurnStopped(path + ": stopped while waiting for another process");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kPause);
  }
  return makers_without() == before;
}

PreparedFile::Turn::~Turn() {
  if (descriptor_ >= 0) {
    struct stat status{};
    if (!kept_ && ::fstat(descriptor_, &status) == 0) {
      [[maybe_unused]] const int grown = ::ftruncate(descriptor_, status.st_size + 1);
    }
    ::close(descriptor_);  // and so unlocked
  }
}

std::string state_of(const std::string& path) {
  std::error_code error;
  return text(fs::weakly_canonical(path, error).string(), " ", size_and_time(path), "\n");
}

std::string state_of_contents(const std::string& folder, std::span<const std::string> files) {
  const uint64_t parts =
      std::clamp(kPartsOfAll / std::max<uint64_t>(files.size(), 1), kLeastParts, kMostParts);
  std::string state;
  for (const std::string& path : files) {
    state += text(fs::path(path).lexically_relative(folder).string(), " ", size_and_time(path), " ",
                  hash_of_parts(path, parts), "\n");
  }
  const auto bytes = std::as_bytes(std::span(state));
  return text(files.size(), " files ", checksum(bytes), " ", checksum_number(bytes, 1));
}

}  // namespace weyl
