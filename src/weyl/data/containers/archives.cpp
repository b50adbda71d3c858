#include "weyl/data/containers/archives.h"

#include <algorithm>
#include <array>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/module.h"
#include "weyl/data/containers/archives_module.h"

namespace weyl {
namespace {

struct ZipModule : OpenedModule {
  decltype(&weyl_zip_open) open = nullptr;
  decltype(&weyl_zip_bytes) bytes = nullptr;

  ZipModule() : OpenedModule(WEYL_ARCHIVES_MODULE) {
    find(open, "weyl_zip_open");
    find(bytes, "weyl_zip_bytes");
  }
};

const ZipModule& use_libzip(std::string_view where) {
  static const ZipModule opened;
  require<ConfigError>(opened.fault().empty(), where, ": needs libzip (", WEYL_ARCHIVES_MODULE, "), ",
                       opened.fault());
  return opened;
}

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  use_libzip(where).open(file, where, limit, state_);
}

ZipArchive::~ZipArchive() = default;

const std::vector<ZipEntry>& ZipArchive::entries() const {
  return state_->entries();
}

std::optional<size_t> ZipArchive::find(std::string_view name) const {
  return state_->find(name);
}

std::vector<std::byte> ZipArchive::unpack(size_t entry, uint64_t skip) {
  return state_->unpack(entry, skip);
}

std::vector<std::byte> ZipArchive::first(size_t entry, uint64_t most) {
  return state_->first(entry, most);
}

std::vector<std::byte> zip_bytes(std::span<const ZipMember> members, bool deflate) {
  std::vector<std::byte> bytes;
  use_libzip("zip").bytes(members, deflate, bytes);
  return bytes;
}

namespace {

struct TarModule : OpenedModule {
  decltype(&weyl_tar_open_file) open_file = nullptr;
  decltype(&weyl_tar_open) open = nullptr;

  TarModule() : OpenedModule(WEYL_ARCHIVES_MODULE) {
    find(open_file, "weyl_tar_open_file");
    find(open, "weyl_tar_open");
  }
};

const TarModule& use_libarchive(std::string_view where) {
  static const TarModule opened;
  require<ConfigError>(opened.fault().empty(), where, ": needs libarchive (", WEYL_ARCHIVES_MODULE, "), ",
                       opened.fault());
  return opened;
}

}  // namespace

bool is_tar(std::string_view path) {
  constexpr std::array<std::string_view, 8> ends{".tar",    ".tgz",     ".tbz2",   ".txz",
                                                 ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"};
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

TarArchive::TarArchive(const std::string& path) {
  const MappedFile there(path);  // says what is wrong with the path
  use_libarchive(path).open_file(path, state_);
}

TarArchive::TarArchive(std::span<const std::byte> file, std::string_view where) {
  use_libarchive(where).open(file, where, state_);
}

TarArchive::~TarArchive() = default;

bool TarArchive::next() {
  return state_->next();
}

const std::string& TarArchive::name() const {
  return state_->name();
}

std::unique_ptr<ByteSource> TarArchive::bytes() {
  return state_->bytes();
}

}  // namespace weyl
