#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/containers/byte_source.h"

namespace weyl {

struct ZipEntry {
  std::string name;
  uint64_t size = 0, packed = 0;  // bytes, as the archive says
};

/// A zip archive in memory, read only. Hostile archives are safe to open:
///   * entries that are given twice or encrypted, and methods other than stored (0) and deflated (8), are refused;
///   * checksums are checked;
///   * no more than `limit` bytes in all are unpacked, whatever sizes the archive states.
/// DataError, naming the file by `where`. ConfigError: libzip is not installed.
class ZipArchive {
 public:
  ZipArchive(std::span<const std::byte> file, std::string_view where,
             uint64_t limit);  // `file` must outlive it
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  const std::vector<ZipEntry>& entries() const;
  std::optional<size_t> find(std::string_view name) const;
  /// Unpacks an entry without its first `skip` bytes. Memory grows with what is unpacked, never with what is stated.
  std::vector<std::byte> unpack(size_t entry, uint64_t skip = 0);
  /// The first bytes of an entry: `most`, or all when there are fewer. So a header is judged before anything is
  /// unpacked. These bytes do not count towards `limit`.
  std::vector<std::byte> first(size_t entry, uint64_t most);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// A file of an archive to be written.
struct ZipMember {
  std::string name;
  std::span<const std::byte> bytes;
};

/// The bytes of a zip archive. The same input gives the same bytes: every entry is dated 1980-01-01.
std::vector<std::byte> zip_bytes(std::span<const ZipMember> members, bool deflate);

/// Whether a path ends as that of a tar archive: .tar, .tgz, .tbz2, .txz, or .tar.gz, .bz2, .xz, .zst.
bool is_tar(std::string_view path);

/// The regular files of a tar archive, one after the other, unpacked as they are read (by libarchive; compressed or
/// not, by its content). Nothing is written anywhere, whatever names the archive has. DataError when it is no archive,
/// truncated or damaged. ConfigError: libarchive is not installed.
class TarArchive {
 public:
  explicit TarArchive(const std::string& path);
  /// An archive in memory; `file` must outlive it.
  TarArchive(std::span<const std::byte> file, std::string_view where);
  ~TarArchive();

  /// Goes to the next regular file; false at the end.
  bool next();
  /// The name of the file in the archive.
  const std::string& name() const;
  /// The bytes of the file, to be read before `next`. The source keeps the archive open.
  std::unique_ptr<ByteSource> bytes();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace weyl
