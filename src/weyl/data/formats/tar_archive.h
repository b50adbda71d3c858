#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weyl/data/formats/byte_source.h"

namespace weyl {

/// Whether a path ends as a tar archive does: .tar, .tgz, .tbz2, .txz, or .tar.gz, .bz2, .xz, .zst.
bool is_tar(std::string_view path);

/// The regular files of a tar archive, one after the other, unpacked as they are read (libarchive; compressed
/// or not, by its content). Nothing is written anywhere, whatever names the archive has. DataError: no
/// archive, a truncated or damaged one.
class TarArchive {
 public:
  explicit TarArchive(const std::string& path);
  /// An archive in memory; `file` must outlive it.
  TarArchive(std::span<const std::byte> file, std::string_view where);
  ~TarArchive();

  /// Goes to the next regular file; false at the end.
  bool next();
  /// Its name in the archive.
  const std::string& name() const;
  /// Its bytes; they go with it.
  std::unique_ptr<ByteSource> bytes();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace weyl
