#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/byte_source.h"

namespace weyl {

/// Bytes that deflate, gzip's method and HDF5's, codes in one, at most.
constexpr uint64_t most_gzip_ratio = 1032;

/// Whether a file begins as gzip does.
bool is_gzip(std::span<const std::byte> file);

/// Inflates a gzip file (several members are one after the other) piece by piece. DataError naming `where`:
/// truncated, corrupt, a checksum that does not fit.
class GzipReader {
 public:
  /// One in memory, which must outlive it; or one that is read piece by piece too.
  GzipReader(std::span<const std::byte> file, std::string_view where);
  GzipReader(std::unique_ptr<ByteSource> file, std::string_view where);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out`, or as much of it as there is; the number of bytes.
  size_t read(std::span<std::byte> out);
  /// The same, but up to where the file is broken, which `fault` then says in place of an error.
  size_t read_sound(std::span<std::byte> out);
  /// "the gzip stream is truncated", for a caller who knows the place; empty: nothing is wrong so far.
  const std::string& fault() const;
  /// Reads what is left and drops it, so that the checksum of all is checked.
  void finish();
  /// No inflated file in memory can be longer.
  uint64_t most_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The bytes as one gzip member without name and time: equal bytes give equal files. DataError naming `where`
/// when memory does not suffice.
std::vector<std::byte> gzip(std::span<const std::byte> bytes, std::string_view where);

}  // namespace weyl
