#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

struct ZipEntry {
  std::string name;
  uint64_t size = 0, packed = 0;  // bytes, as the archive says
};

/// A zip archive in memory, read only. Hostile archives are safe to open: entries given twice, encrypted ones
/// and methods other than stored (0) and deflated (8) are refused, checksums are checked, and no more than
/// `limit` bytes in all are ever unpacked, whatever sizes the archive states. `where` names the file in
/// messages. DataError.
class ZipArchive {
 public:
  ZipArchive(std::span<const std::byte> file, std::string_view where,
             uint64_t limit);  // `file` must outlive it
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  const std::vector<ZipEntry>& entries() const;
  std::optional<size_t> find(std::string_view name) const;
  /// An entry without its first `skip` bytes. Memory grows with what is unpacked, never with what is stated.
  std::vector<std::byte> unpack(size_t entry, uint64_t skip = 0);
  /// The first bytes of an entry, at most `most`, all when there are no more: a header that is judged before
  /// anything is unpacked. They do not count.
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

/// The bytes of an archive. The same input gives the same bytes: every entry is dated 1980-01-01.
std::vector<std::byte> zip_bytes(std::span<const ZipMember> members, bool deflate);

}  // namespace weyl
