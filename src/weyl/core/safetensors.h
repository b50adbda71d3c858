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
  std::string checksums;  // of the blocks of checksum_block bytes, one after the other; empty: not known
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;  // without the checksums
  std::map<std::string, TensorEntry> tensors;   // by name
  uint64_t data_begin = 0;                      // offset of the data part in the file
  bool has_checksums = false;                   // of the header, and of every tensor that has bytes
};

/// The size of a block of a tensor's bytes with a checksum of its own; the last block may be shorter.
constexpr size_t checksum_block = size_t{1} << 20;

constexpr uint64_t longest_safetensors_header = 100'000'000;  // bytes

/// Parses and checks the header of a file of `file_size` bytes. `head` is the file, or its beginning with at least the
/// whole header. DataError, which names the file by `where`, unless
///   * the header's length is within the file, and at most longest_safetensors_header;
///   * the header is valid JSON without duplicate names, with known types and with metadata from strings to strings;
///   * no shape is negative or overflows;
///   * begin <= end <= data size, and end - begin is the product of the shape times the size of the type;
///   * tensors neither overlap nor leave a hole;
///   * the header's own checksum holds, where it has one (see header_checksum_key).
/// Data need not be aligned. Nothing outside `head` is read.
SafetensorsHeader parse_safetensors(std::span<const std::byte> head, uint64_t file_size,
                                    std::string_view where);

/// A file that is open for reading. Opening it reads the header alone. A tensor is read when it is asked for, and each
/// of its blocks is then compared with its checksum. What others do to the file afterwards changes nothing. Several
/// threads may use it. DataError naming the file when it is absent, unreadable, broken, or shortened since it was
/// opened, and when a checksum differs (naming the tensor).
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const std::string& path() const { return file_.path(); }
  bool contains(const std::string& name) const;
  const TensorEntry& entry(const std::string& name) const;         // DataError when absent
  std::vector<std::byte> bytes(const std::string& name) const;     // of one tensor
  void read(const std::string& name, std::span<std::byte>) const;  // into memory of the tensor's size
  /// Reads as many bytes of a tensor as `out` has, from `begin` on, and compares the blocks that they lie in with their
  /// checksums. ShapeError: the tensor has fewer bytes.
  void read_part(const std::string& name, uint64_t begin, std::span<std::byte> out) const;
  void verify(const std::string& name) const;  // compares the checksums of one tensor
  void verify() const;                         // compares those of all tensors

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

/// Writes a file under a temporary name beside its place, syncs it and renames it: `path` is whole or untouched, also
/// when the disk is full. The same input gives the same bytes.
///
/// The data part begins at a multiple of 64 bytes. Tensors follow one another in the order given, without holes (the
/// format forbids them); when those with larger elements come first, each is aligned to its element. The metadata get
/// the checksums of tensors and header (header_checksum_key, below).
///
/// ShapeError when bytes do not fit a shape or a name is given twice. DataError for text that is not UTF-8, and with
/// the system's reason. The temporary file is then removed.
void write_safetensors(const std::string& path, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Existing existing = Existing::replace);

/// The checksums that we write into a file, as two entries of its metadata (docs/adr/0004):
///   weyl.xxh3_64.header   of the length field and the header, with this entry's 16 digits taken as zeros. It is the
///                         first entry, so that the digits stand at one place in every file
///   weyl.xxh3_64.tensors  JSON, {"name": "the checksums of its blocks of 1 MiB, one after the other"}
constexpr std::string_view header_checksum_key = "weyl.xxh3_64.header",
                           tensor_checksums_key = "weyl.xxh3_64.tensors";

/// The value of the entry weyl.xxh3_64.tensors.
std::string tensor_checksums(std::span<const TensorBytes> tensors);

/// Puts the digits of weyl.xxh3_64.header into `head`, which is the length field and the header.
void seal_header(std::string& head);

/// Compares the checksum of `head`, which ends with the header; false when there is none. DataError: it differs.
bool check_header(std::span<const std::byte> head, std::string_view where);

/// Removes both entries from the metadata and gives each tensor its checksums. `checked` is what check_header returned.
/// DataError: the file has one entry without the other, or its checksums do not fit these tensors.
void take_checksums(SafetensorsHeader& header, bool checked, std::string_view where);

}  // namespace weyl
