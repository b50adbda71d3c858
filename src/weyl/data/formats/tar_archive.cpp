#include "weyl/data/formats/tar_archive.h"

#include <algorithm>
#include <array>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/module.h"
#include "weyl/data/formats/archives_module.h"

namespace weyl {
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
