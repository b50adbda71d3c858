#include "weyl/data/formats/idx.h"

#include <algorithm>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/byte_source.h"
#include "weyl/data/formats/gzip.h"

namespace weyl {
namespace {

constexpr size_t kMostDimensions = 8;
constexpr size_t kUnpacked = size_t{1} << 18;  // bytes unpacked at a time

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

/// At most `most` bytes of a source: memory grows with what is there, never with what the file states.
std::vector<std::byte> take(ByteSource& source, uint64_t most) {
  std::vector<std::byte> result;
  result.reserve(most);
  for (size_t got = 1; got > 0 && result.size() < most;) {
    const size_t at = result.size();
    result.resize(std::min<uint64_t>(most, at + kUnpacked));
    got = source.read(std::span(result).subspan(at));
    result.resize(at + got);
  }
  return result;
}

}  // namespace

Array parse_idx(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  const auto source = bytes_of(file, where);
  std::vector<std::byte> header = take(*source, 4);
  const auto byte = [&](size_t i) { return std::to_integer<uint32_t>(header[i]); };
  const auto check = [&](bool holds, const auto&... parts) {
    const std::string fault = holds ? "" : source->fault();
    require<DataError>(fault.empty(), where, ": ", fault);
    require<DataError>(holds, where, ": ", parts...);
  };
  check(header.size() == 4, "must have the 4 bytes of IDX's magic number, got ", header.size());
  check(byte(0) == 0 && byte(1) == 0, "must begin with the two zero bytes of IDX");
  const auto* type = std::find_if(std::begin(idx_types), std::end(idx_types),
                                  [&](const IdxType& t) { return t.code == byte(2); });
  check(type != std::end(idx_types),
        "the type must be 8, 9, 11, 12, 13 or 14 (u8, i8, i16, i32, f32, f64), got ", byte(2));
  const size_t dimensions = byte(3);
  check(dimensions >= 1 && dimensions <= kMostDimensions, "must have 1 to ", kMostDimensions,
        " dimensions, got ", dimensions);
  header = take(*source, 4 * dimensions);
  check(header.size() == 4 * dimensions, "must have ", 4 + 4 * dimensions, " bytes of header, got ",
        4 + header.size());
  Array array;
  array.type = type->type;
  for (size_t d = 0; d < dimensions; ++d) {
    const size_t i = 4 * d;
    array.shape.push_back(byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3));
  }
  const auto expected = byte_count(array.type, array.shape);
  check(expected.has_value(), "the shape ", shape_text(array.shape), " overflows");
  const std::string must =
      text(name_of(array.type), " of shape ", shape_text(array.shape), " must have ", *expected, " bytes, ");
  const uint64_t begin = 4 + 4 * dimensions;
  if (is_gzip(file)) {
    const uint64_t most = file.size() * most_gzip_ratio;
    check(*expected <= most, must, "the file has at most ", most);
    check(begin + *expected <= limit, "unpacks to more than its limit of ", limit, " bytes (a gzip bomb?)");
  } else {
    check(*expected == file.size() - begin, must, "got ", file.size() - begin);
  }
  require_memory(*expected, where);
  array.bytes = take(*source, *expected);
  check(array.bytes.size() == *expected, must, "got ", array.bytes.size());
  check(take(*source, 1).empty() && source->fault().empty(), must, "got more");
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
