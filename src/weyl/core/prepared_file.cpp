#include "weyl/core/prepared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/input_file.h"
#include "weyl/core/own_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "prepared_of";
constexpr const char* kBeside = ".weyl";
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
  const bool known = owners.empty() || std::ranges::find(owners, status.st_uid) != owners.end();
  return known ? "" : path + ": belongs to another user";
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

PreparedFile PreparedFile::beside(const std::string& of, const std::string& kind, std::string key) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(of, error);
  struct stat status{};
  if (error || ::stat(of.c_str(), &status) != 0) {
    return {};
  }
  const auto named = [&](const std::string& what) {
    return place.filename().string() + "." + checksum(std::as_bytes(std::span(what)));
  };
  const std::string name = named(place.string() + "\n" + kind) + ".safetensors";
  const std::string lock = named(place.string()) + ".lock";
  PreparedFile file;
  const auto add = [&](const fs::path& folder) {
    file.places_.push_back({(folder / name).string(), (folder / lock).string(), true});
  };
  add(place.parent_path() / kBeside);
  if (const std::string cache = cache_folder(); !cache.empty()) {
    add(cache);
  }
  file.key_ = std::move(key);
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
        wrong = place.path + ": was made of other files, or before they changed";
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

bool PreparedFile::save(const Write& write) const {
  for (const Place& place : places_) {
    try {
      const std::string folder = fs::path(place.path).parent_path().string();
      make_folder(folder);
      if (place.ours) {
        require_plain(folder, Plain::folder, "what is prepared of data");
      }
      write(place.path, {{kKey, key_}});
      return true;
    } catch (const DataError&) {
      // The next place, or none: a full or read-only disk costs time, and no more.
    }
  }
  return false;
}

bool PreparedFile::save(std::span<const TensorBytes> tensors, Metadata metadata) const {
  return save([&](const std::string& path, const Metadata& key) {
    metadata.insert(key.begin(), key.end());
    write_safetensors(path, tensors, metadata, Existing::replace_link);
  });
}

PreparedFile::Turn::Turn(const PreparedFile& file) {
  for (const Place& place : file.places_) {
    const std::string folder = fs::path(place.path).parent_path().string();
    try {
      make_folder(folder);
      if (place.ours) {
        require_plain(folder, Plain::folder, "what is prepared of data");
      }
      descriptor_ = open_plain(place.lock, O_RDWR | O_CREAT);
    } catch (const DataError&) {
      continue;
    }
    if (::flock(descriptor_, LOCK_EX) != 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
    return;
  }
}

PreparedFile::Turn::~Turn() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);  // and so unlocked
  }
}

std::string state_of(const std::string& path) {
  std::error_code error;
  return text(fs::weakly_canonical(path, error).string(), " ", fs::file_size(path, error), " ",
              fs::last_write_time(path, error).time_since_epoch().count(), "\n");
}

std::string state_of_contents(const std::string& folder, std::span<const std::string> files) {
  const uint64_t parts =
      std::clamp(kPartsOfAll / std::max<uint64_t>(files.size(), 1), kLeastParts, kMostParts);
  std::string state;
  for (const std::string& path : files) {
    std::error_code error;
    state += text(fs::path(path).lexically_relative(folder).string(), " ", fs::file_size(path, error), " ",
                  fs::last_write_time(path, error).time_since_epoch().count(), " ",
                  hash_of_parts(path, parts), "\n");
  }
  return state;
}

}  // namespace weyl
