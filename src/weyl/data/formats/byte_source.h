#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Bytes that are read once, piece by piece.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out`, or as much of it as there is; the number of bytes, 0 at the end.
  virtual size_t read(std::span<std::byte> out) = 0;
  /// Why the bytes end before their end, without the place, which the caller knows; empty: they do not.
  virtual std::string fault() const { return {}; }
};

/// The bytes of a file, inflated when it begins as gzip does, read piece by piece: little of it is in memory, and
/// one that is shortened meanwhile ends with a fault.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Those of a file in memory, likewise; `file` must outlive it.
std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> file, std::string_view where);

/// Reads the first bytes of a source, at most `most`, and leaves them in it.
std::vector<std::byte> peek(std::unique_ptr<ByteSource>& source, size_t most);

}  // namespace weyl
