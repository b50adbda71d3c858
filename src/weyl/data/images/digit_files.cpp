#include "weyl/data/images/digit_files.h"

#include <algorithm>
#include <charconv>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

constexpr size_t kLeastLine = 2 * (amat_pixels + 1) - 1;  // "0 0 ... 0"

bool is_amat_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

const char* after_blanks(const char* at, const char* end) {
  while (at != end && is_amat_blank(*at)) {
    ++at;
  }
  return at;
}

/// The column at `at`, for an error line.
std::string column_text(const char* at, const char* end) {
  return quote({at, static_cast<size_t>(std::find_if(at, end, is_amat_blank) - at)}, 40);
}

class LineReader {
 public:
  LineReader(AmatImages& to, std::string_view where) : to_(to), where_(where) {}

  void read(std::string_view line, int64_t number) {
    line_ = number;
    const char *at = line.data(), *end = at + line.size();
    at = after_blanks(at, end);
    if (at == end) {
      return;
    }
    int64_t column = 0;
    double label = 0;
    for (; at != end; ++column) {
      if (column > amat_pixels) {
        break;
      }
      double x = 0;
      const char* begin = at;
      if (at + 1 < end ? *at == '0' && is_amat_blank(at[1]) : *at == '0') {  // most pixels: a short way
        ++at;
      } else {
        const auto [stop, error] = std::from_chars(at, end, x);
        check(error == std::errc() && (stop == end || is_amat_blank(*stop)), "column ", column + 1,
              " must be a number, got ", column_text(begin, end));
        at = stop;
      }
      if (column < amat_pixels) {
        check(x >= 0 && x <= 1, "column ", column + 1, " must be a pixel in [0, 1], got ",
              column_text(begin, end));
        to_.pixels.push_back(static_cast<float>(x));
      } else {
        check(x >= 0 && x <= 9 && x == static_cast<double>(static_cast<int64_t>(x)), "column ", column + 1,
              " must be a label 0 .. 9, got ", column_text(begin, end));
        label = x;
      }
      at = after_blanks(at, end);
    }
    check(column == amat_pixels + 1 && at == end, "must have 785 columns, 784 pixels and the label, got ",
          at == end ? std::to_string(column) : "more");
    to_.labels.push_back(static_cast<int64_t>(label));
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", line_, ": ", parts...);
    }
  }

  AmatImages& to_;
  std::string_view where_;
  int64_t line_ = 0;
};

}  // namespace

AmatImages parse_amat(std::string_view file, std::string_view where) {
  AmatImages found;
  // A file cannot hold more images than lines of the least length.
  const size_t most = file.size() / kLeastLine + 1;
  found.pixels.reserve(std::min<size_t>(std::count(file.begin(), file.end(), '\n') + 1, most) * amat_pixels);
  LineReader reader(found, where);
  for (int64_t number = 1; !file.empty(); ++number) {
    const size_t end = std::min(file.find('\n'), file.size());
    reader.read(file.substr(0, end), number);
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  require<DataError>(found.size() > 0, where, ": must hold at least one image, holds none");
  return found;
}

AmatImages read_amat(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_amat({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string amat_text(std::span<const float> pixels, std::span<const int64_t> labels) {
  require(pixels.size() == labels.size() * amat_pixels, "amat: must have 784 pixels for each of ",
          labels.size(), " labels, got ", pixels.size());
  std::string result;
  result.reserve(pixels.size() * 4);
  char number[32];
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const float x : pixels.subspan(i * amat_pixels, amat_pixels)) {
      const auto end = std::to_chars(std::begin(number), std::end(number), x).ptr;
      result.append(number, end).push_back(' ');
    }
    result.append(std::to_string(labels[i])).push_back('\n');
  }
  return result;
}

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

constexpr int64_t kRecord = 1 + cifar_pixels;

CifarImages parse_cifar10(std::span<const std::byte> file, std::string_view where) {
  const auto size = static_cast<int64_t>(file.size());
  require<DataError>(size > 0 && size % kRecord == 0, where,
                     ": must be a whole number of images of 3073 bytes, got ", size, " bytes");
  CifarImages images;
  images.pixels.reserve(size / kRecord * cifar_pixels);
  for (int64_t at = 0; at < size; at += kRecord) {
    const auto label = std::to_integer<int64_t>(file[at]);
    require<DataError>(label <= 9, where, ": image ", at / kRecord, ": the label must be 0 .. 9, got ",
                       label);
    images.labels.push_back(label);
    const auto* begin = reinterpret_cast<const uint8_t*>(file.data()) + at + 1;
    images.pixels.insert(images.pixels.end(), begin, begin + cifar_pixels);
  }
  return images;
}

CifarImages read_cifar10(const std::string& path) {
  return parse_cifar10(MappedFile(path).bytes(), path);
}

}  // namespace weyl
