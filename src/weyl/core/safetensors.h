#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"  // write_file_atomically
#include "weyl/core/element_type.h"

namespace weyl {

/// One tensor of a file: `begin` and `end` are offsets into the data part.
struct TensorEntry {
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorEntry> tensors;  // by name
  uint64_t data_begin = 0;                     // offset of the data part in the file
};

/// Parses and checks the header of a file of `file_size` bytes that begins with `head` (all of it, or at
/// least the header): length within the file (at most 100 MB), valid JSON without duplicate names, known
/// types, no negative or overflowing shape, begin <= end <= data size, size = product of shape times size of
/// type, no overlap and no hole, metadata from strings to strings. Data need not be aligned. `where` names
/// the file in messages. Throws DataError; never reads outside `head`.
SafetensorsHeader parse_safetensors(std::span<const std::byte> head, uint64_t file_size,
                                    std::string_view where);

/// A file mapped read-only. Throws DataError when it is absent, unreadable or broken.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const SafetensorsHeader& header() const;
  const std::string& path() const;
  bool contains(const std::string& name) const;
  const TensorEntry& entry(const std::string& name) const;          // DataError when absent
  std::span<const std::byte> bytes(const std::string& name) const;  // of one tensor

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
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
/// each is aligned to its element. The same input gives the same bytes. Throws ShapeError when bytes do not
/// fit a shape or a name is given twice, DataError for text that is not UTF-8 and with the system's reason;
/// the temporary file is removed.
void write_safetensors(const std::string& path, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Existing existing = Existing::replace);

}  // namespace weyl
