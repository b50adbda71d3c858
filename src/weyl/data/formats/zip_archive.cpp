#include "weyl/data/formats/zip_archive.h"

#include "weyl/core/check.h"
#include "weyl/core/module.h"
#include "weyl/data/formats/archives_module.h"

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

}  // namespace weyl
