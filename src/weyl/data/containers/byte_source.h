#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Bytes that are read once, in pieces.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out`, or as much of it as there are bytes. Returns their number, 0 at the end.
  virtual size_t read(std::span<std::byte> out) = 0;
  /// Why the bytes end too early; empty: they do not. The place is not named: the caller knows it.
  virtual std::string fault() const { return {}; }
  /// Whether `go_to` can move the place that is read next to any byte, from 0.
  virtual bool can_go() const { return false; }
  virtual void go_to(uint64_t /*byte*/) {}
};

/// The bytes of a file, inflated when it begins as gzip does. They are read in pieces, so that little is in memory. A
/// file that is shortened meanwhile ends with a fault.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// The bytes of a file in memory, inflated in the same way; `file` must outlive the result.
std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> file, std::string_view where);

/// Looks at the first bytes of a source, at most `most`; the source still gives them afterwards.
std::vector<std::byte> peek(std::unique_ptr<ByteSource>& source, size_t most);

/// The most bytes that one byte of deflate, the method of gzip and HDF5, can stand for.
constexpr uint64_t most_gzip_ratio = 1032;

/// Whether a file begins as gzip does.
bool is_gzip(std::span<const std::byte> file);

/// Inflates a gzip file in pieces; a file may have several members, one after the other. DataError naming `where` when
/// it is truncated or corrupt, or a checksum does not fit.
class GzipReader {
 public:
  /// A file in memory, which must outlive the reader; or a file that is itself read in pieces.
  GzipReader(std::span<const std::byte> file, std::string_view where);
  GzipReader(std::unique_ptr<ByteSource> file, std::string_view where);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out`, or as much of it as there are bytes. Returns their number.
  size_t read(std::span<std::byte> out);
  /// The same up to where the file is broken; `fault` then says why, and no error is thrown.
  size_t read_sound(std::span<std::byte> out);
  /// "the gzip stream is truncated", for a caller who knows the place; empty: nothing is wrong so far.
  const std::string& fault() const;
  /// Reads the rest and drops it, so that the checksum of all is checked.
  void finish();
  /// An upper bound of the inflated length of a file in memory; 0 for a file that is read in pieces.
  uint64_t most_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The bytes as one gzip member without name and time, so that equal bytes give equal files. DataError naming `where`
/// when there is not enough memory.
std::vector<std::byte> gzip(std::span<const std::byte> bytes, std::string_view where);

}  // namespace weyl
