#include "weyl/data/formats/idx.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/gzip.h"

namespace weyl {
namespace {

constexpr size_t kMostDimensions = 8;
constexpr size_t kBlock = size_t{1} << 18;  // bytes unpacked at a time

struct IdxType {
  uint8_t code;
  ElementType type;
};
constexpr IdxType idx_types[] = {{0x08, ElementType::u8},  {0x09, ElementType::i8},
                                 {0x0b, ElementType::i16}, {0x0c, ElementType::i32},
                                 {0x0d, ElementType::f32}, {0x0e, ElementType::f64}};

/// Between big endian and little endian.
void reverse_each(std::vector<std::byte>& bytes, int64_t size) {
  if (size > 1) {
    for (auto at = bytes.begin(); at != bytes.end(); at += size) {
      std::reverse(at, at + size);
    }
  }
}

/// The whole of a packed file: memory grows with what is unpacked, never with what the file states.
std::vector<std::byte> unpacked(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  GzipReader reader(file, where);
  std::vector<std::byte> result;
  for (size_t got = kBlock; got == kBlock;) {
    const size_t at = result.size();
    result.resize(at + kBlock);
    got = reader.read(std::span(result).subspan(at));
    result.resize(at + got);
    require<DataError>(result.size() <= limit, where, ": unpacks to more than its limit of ", limit,
                       " bytes (a gzip bomb?)");
  }
  return result;
}

}  // namespace

Array parse_idx(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  std::vector<std::byte> inside;
  if (is_gzip(file)) {
    inside = unpacked(file, where, limit);
    file = inside;
  }
  const auto byte = [&](size_t i) { return std::to_integer<uint32_t>(file[i]); };
  require<DataError>(file.size() >= 4, where, ": must have the 4 bytes of IDX's magic number, got ",
                     file.size());
  require<DataError>(byte(0) == 0 && byte(1) == 0, where, ": must begin with the two zero bytes of IDX");
  const auto* type = std::find_if(std::begin(idx_types), std::end(idx_types),
                                  [&](const IdxType& t) { return t.code == byte(2); });
  require<DataError>(type != std::end(idx_types), where,
                     ": the type must be 8, 9, 11, 12, 13 or 14 (u8, i8, i16, i32, f32, f64), got ", byte(2));
  const size_t dimensions = byte(3), header = 4 + 4 * dimensions;
  require<DataError>(dimensions >= 1 && dimensions <= kMostDimensions, where, ": must have 1 to ",
                     kMostDimensions, " dimensions, got ", dimensions);
  require<DataError>(file.size() >= header, where, ": must have ", header, " bytes of header, got ",
                     file.size());
  Array array;
  array.type = type->type;
  for (size_t d = 0; d < dimensions; ++d) {
    const size_t i = 4 + 4 * d;
    array.shape.push_back(byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3));
  }
  const auto data = file.subspan(header);
  const auto expected = byte_count(array.type, array.shape);
  require<DataError>(expected.has_value(), where, ": the shape ", shape_text(array.shape), " overflows");
  require<DataError>(*expected == data.size(), where, ": ", name_of(array.type), " of shape ",
                     shape_text(array.shape), " must have ", *expected, " bytes, got ", data.size());
  array.bytes.assign(data.begin(), data.end());
  reverse_each(array.bytes, size_of(array.type));
  return array;
}

Array read_idx(const std::string& path) {
  return parse_idx(MappedFile(path).bytes(), path);
}

std::vector<std::byte> idx_bytes(const Array& array) {
  const auto* type = std::find_if(std::begin(idx_types), std::end(idx_types),
                                  [&](const IdxType& t) { return t.type == array.type; });
  require<DataError>(type != std::end(idx_types), "idx: has no type for ", name_of(array.type));
  std::vector<std::byte> result{std::byte{0}, std::byte{0}, std::byte{type->code},
                                static_cast<std::byte>(array.shape.size())};
  for (const int64_t n : array.shape) {
    for (const int shift : {24, 16, 8, 0}) {
      result.push_back(static_cast<std::byte>(n >> shift & 0xff));
    }
  }
  std::vector<std::byte> values = array.bytes;
  reverse_each(values, size_of(array.type));
  result.insert(result.end(), values.begin(), values.end());
  return result;
}

}  // namespace weyl
