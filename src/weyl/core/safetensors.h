#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"  // write_file_atomically
#include "weyl/core/element_type.h"
#include "weyl/core/input_file.h"

namespace weyl {

/// One tensor of a file: `begin` and `end` are offsets into the data part.
struct TensorEntry {
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
  std::string checksums;  // of each block of checksum_block bytes, one after the other; empty: not known
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;  // without the checksums
  std::map<std::string, TensorEntry> tensors;   // by name
  uint64_t data_begin = 0;                      // offset of the data part in the file
  bool has_checksums = false;                   // of itself, and of every tensor that has bytes
};

/// The bytes of a tensor that have one checksum; its last block may be shorter.
constexpr size_t checksum_block = size_t{1} << 20;

constexpr uint64_t longest_safetensors_header = 100'000'000;  // bytes

/// Parses and checks the header of a file of `file_size` bytes that begins with `head` (all of it, or at
/// least the header): length within the file (at most 100 MB), valid JSON without duplicate names, known
/// types, no negative or overflowing shape, begin <= end <= data size, size = product of shape times size of
/// type, no overlap and no hole, metadata from strings to strings; and the header's own checksum, where it has
/// one (files that weyl writes do: safetensors_checksums.h). Data need not be aligned. `where` names the file in messages. Throws DataError; never reads outside `head`.
SafetensorsHeader parse_safetensors(std::span<const std::byte> head, uint64_t file_size,
                                    std::string_view where);

/// A file open for reading. Opening it reads the header alone; tensors are read when they are asked for, each block of
/// them is then compared with its checksum, and what others do to the file afterwards changes nothing. Safe to
/// use from several threads. DataError naming the file: absent, unreadable, broken, shortened since it was opened,
/// a checksum that differs (and of which tensor).
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const std::string& path() const { return file_.path(); }
  bool contains(const std::string& name) const;
  const TensorEntry& entry(const std::string& name) const;         // DataError when absent
  std::vector<std::byte> bytes(const std::string& name) const;     // of one tensor
  void read(const std::string& name, std::span<std::byte>) const;  // the same into memory of its size
  /// The bytes of a tensor from `begin` on, as many as `out` has; the blocks that they lie in are compared with their
  /// checksums. ShapeError: the tensor has fewer.
  void read_part(const std::string& name, uint64_t begin, std::span<std::byte> out) const;
  void verify(const std::string& name) const;  // the same, for the checksums alone
  void verify() const;                         // of all tensors

 private:
  void read_block(const std::string& name, const TensorEntry& tensor, uint64_t begin,
                  std::span<std::byte> out) const;

  InputFile file_;
  SafetensorsHeader header_;
};

/// A tensor to be written: contiguous bytes in row-major order.
struct TensorBytes {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes a file under a temporary name beside it, syncs it and renames it: `path` is whole or untouched,
/// also when the disk is full. The data part begins at a multiple of 64 bytes and tensors follow one another
/// in the order given, without holes (the format forbids them): give those with larger elements first, and
/// each is aligned to its element. The metadata get the checksums of tensors and header
/// (safetensors_checksums.h). The same input gives the same bytes. Throws ShapeError when bytes do not
/// fit a shape or a name is given twice, DataError for text that is not UTF-8 and with the system's reason;
/// the temporary file is removed.
void write_safetensors(const std::string& path, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Existing existing = Existing::replace);

}  // namespace weyl
