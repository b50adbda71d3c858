#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {

/// A zip archive that libzip has open.
struct ZipArchive::State {
  virtual ~State() = default;
  virtual const std::vector<ZipEntry>& entries() const = 0;
  virtual std::optional<size_t> find(std::string_view name) const = 0;
  virtual std::vector<std::byte> unpack(size_t entry, uint64_t skip) = 0;
  virtual std::vector<std::byte> first(size_t entry, uint64_t most) = 0;
};

/// A tar archive that libarchive has open.
struct TarArchive::State {
  virtual ~State() = default;
  virtual bool next() = 0;
  virtual const std::string& name() const = 0;
  virtual std::unique_ptr<ByteSource> bytes() = 0;
};

// The functions that the module weyl_archives offers to containers/archives.cpp, which finds them by their names. They
// hold all calls of libzip and libarchive, which on Debian bring OpenSSL, libxml2 and ICU with them. The module is
// built from the same tree, so the types need no stable layout. Several threads may be inside.
extern "C" {
void weyl_zip_open(std::span<const std::byte> file, std::string_view where, uint64_t limit,
                   std::unique_ptr<ZipArchive::State>& opened);
void weyl_zip_bytes(std::span<const ZipMember> members, bool deflate, std::vector<std::byte>& bytes);
void weyl_tar_open_file(const std::string& path, std::shared_ptr<TarArchive::State>& opened);
void weyl_tar_open(std::span<const std::byte> file, std::string_view where,
                   std::shared_ptr<TarArchive::State>& opened);
}

}  // namespace weyl
