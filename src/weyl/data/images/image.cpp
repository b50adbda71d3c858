#include "weyl/data/images/image.h"

#include <zlib.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/images/image_decode.h"

namespace weyl {
namespace {

constexpr size_t kSignature = 8;  // bytes, of PNG

class ImageBytes {
 public:
  explicit ImageBytes(std::span<const std::byte> file) : file_(file) {}
  uint32_t byte(size_t i) const { return std::to_integer<uint32_t>(file_[i]); }
  uint32_t little(size_t i, int bytes) const {
    uint32_t x = 0;
    for (int k = bytes - 1; k >= 0; --k) {
      x = x << 8 | byte(i + k);
    }
    return x;
  }
  uint32_t big(size_t i) const { return byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3); }

 private:
  std::span<const std::byte> file_;
};

struct PngHeader {
  int64_t width = 0, height = 0;
  uint32_t depth = 0, colour = 0, interlace = 0;

  /// Bytes of the filtered rows of an image, or of one pass of an interlaced one.
  uint64_t bytes(int64_t w, int64_t h) const {
    constexpr int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return w == 0 ? 0 : static_cast<uint64_t>(h * (1 + (w * channels[colour] * depth + 7) / 8));
  }
  uint64_t bytes() const {
    if (interlace == 0) {
      return bytes(width, height);
    }
    constexpr int x0[] = {0, 4, 0, 2, 0, 1, 0}, y0[] = {0, 0, 4, 0, 2, 0, 1};
    constexpr int dx[] = {8, 8, 4, 4, 2, 2, 1}, dy[] = {8, 8, 8, 4, 4, 2, 2};
    uint64_t sum = 0;
    for (int pass = 0; pass < 7; ++pass) {
      sum +=
          bytes((width - x0[pass] + dx[pass] - 1) / dx[pass], (height - y0[pass] + dy[pass] - 1) / dy[pass]);
    }
    return sum;
  }
};

PngHeader png_header(const ImageBytes& bytes, size_t at, uint32_t length, std::string_view where) {
  require<DataError>(length == 13, where, ": the header must have 13 bytes, got ", length);
  const PngHeader h{bytes.big(at), bytes.big(at + 4), bytes.byte(at + 8), bytes.byte(at + 9),
                    bytes.byte(at + 12)};
  require_image_size(h.width, h.height, where);
  const bool deep = h.depth == 8 || h.depth == 16;
  const bool known = h.colour == 0   ? deep || h.depth == 1 || h.depth == 2 || h.depth == 4
                     : h.colour == 3 ? h.depth == 1 || h.depth == 2 || h.depth == 4 || h.depth == 8
                                     : (h.colour == 2 || h.colour == 4 || h.colour == 6) && deep;
  require<DataError>(known && h.interlace <= 1, where, ": there is no PNG of colour type ", h.colour, ", ",
                     h.depth, " bits and interlacing ", h.interlace);
  return h;
}

/// Counts what the packed rows unpack to.
class RowCounter {
 public:
  explicit RowCounter(std::string_view where) : where_(where) {
    require<DataError>(inflateInit(&z_) == Z_OK, where, ": there is no memory to inflate it");
  }
  ~RowCounter() { inflateEnd(&z_); }
  RowCounter(const RowCounter&) = delete;
  RowCounter& operator=(const RowCounter&) = delete;

  void add(std::span<const std::byte> part, uint64_t most) {
    z_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));  // zlib does not write it
    z_.avail_in = static_cast<uInt>(part.size());
    while (z_.avail_in > 0 && !ended_) {
      z_.next_out = scratch_.data();
      z_.avail_out = static_cast<uInt>(scratch_.size());
      const int status = inflate(&z_, Z_NO_FLUSH);
      require<DataError>(status == Z_OK || status == Z_STREAM_END, where_,
                         ": the packed pixels are damaged (", z_.msg != nullptr ? z_.msg : "no reason given",
                         ")");
      ended_ = status == Z_STREAM_END;
      count_ += scratch_.size() - z_.avail_out;
      require<DataError>(count_ <= most, where_, ": the pixels must unpack to ", most,
                         " bytes, they are more");
    }
  }
  uint64_t count() const { return count_; }

 private:
  std::string_view where_;
  z_stream z_{};
  std::array<Bytef, 1 << 15> scratch_;
  uint64_t count_ = 0;
  bool ended_ = false;
};

}  // namespace

void require_image_size(int64_t width, int64_t height, std::string_view where) {
  require<DataError>(width > 0 && height > 0, where, ": must have pixels, got ", width, " x ", height);
  require<DataError>(
      width <= image_side_limit && height <= image_side_limit && width * height <= image_pixels_limit, where,
      ": must have at most ", image_side_limit, " pixels a side and ", image_pixels_limit, " in all, got ",
      width, " x ", height);
}

void check_png(std::span<const std::byte> file, std::string_view where) {
  const ImageBytes bytes(file);
  PngHeader header;
  RowCounter rows(where);
  for (size_t at = kSignature; true;) {
    require<DataError>(file.size() - at >= 12, where, ": the PNG ends before its end chunk, cut short?");
    const uint32_t length = bytes.big(at);
    const std::string_view name(reinterpret_cast<const char*>(file.data()) + at + 4, 4);
    require<DataError>(length <= file.size() - at - 12, where, ": chunk ", quote(name), " of ", length,
                       " bytes ends beyond the file, cut short?");
    const auto* checked = reinterpret_cast<const Bytef*>(file.data()) + at + 4;
    require<DataError>(crc32(0, checked, length + 4) == bytes.big(at + 8 + length), where, ": chunk ",
                       quote(name), " is damaged, its checksum does not fit");
    require<DataError>((name == "IHDR") == (header.height == 0), where,
                       ": the header must come first and once");
    if (name == "IHDR") {
      header = png_header(bytes, at + 8, length, where);
    } else if (name == "IDAT") {
      rows.add(file.subspan(at + 8, length), header.bytes());
    } else if (name == "IEND") {
      break;
    }
    at += 12 + length;
  }
  require<DataError>(rows.count() == header.bytes(), where, ": the pixels must unpack to ", header.bytes(),
                     " bytes, got ", rows.count());
}

void check_jpeg(std::span<const std::byte> file, std::string_view where) {
  const ImageBytes bytes(file);
  constexpr int64_t kMostPixels = 512;  // of a byte: a block of 8 x 8 takes at least one bit
  constexpr int kMostScans = 128;       // each may go through all blocks; encoders write about ten
  constexpr uint32_t kBaseline = 0xc0, kProgressive = 0xc2, kLastFrame = 0xcf, kTables = 0xc4,
                     kArithmetic = 0xcc, kReserved = 0xc8, kFirstRestart = 0xd0, kLastRestart = 0xd7,
                     kEnd = 0xd9, kScan = 0xda;
  const auto is_restart = [](uint32_t marker) { return marker >= kFirstRestart && marker <= kLastRestart; };
  int scans = 0;
  for (size_t at = 2; true;) {
    while (at < file.size() && bytes.byte(at) != 0xff) {
      ++at;  // between segments
    }
    while (at < file.size() && bytes.byte(at) == 0xff) {
      ++at;
    }
    require<DataError>(at < file.size(), where, ": the JPEG ends without its end marker, cut short?");
    const uint32_t marker = bytes.byte(at++);
    if (marker == kEnd) {
      break;
    }
    if (marker <= 1 || is_restart(marker)) {
      continue;  // without a segment
    }
    const uint32_t length = file.size() - at < 2 ? 0 : bytes.byte(at) << 8 | bytes.byte(at + 1);
    require<DataError>(length >= 2 && length <= file.size() - at, where, ": segment ", marker,
                       " of the JPEG ends beyond the file, cut short?");
    const bool frame = marker >= kBaseline && marker <= kLastFrame && marker != kTables &&
                       marker != kArithmetic && marker != kReserved;
    require<DataError>(!frame || marker <= kProgressive, where,
                       ": the JPEG must be baseline or progressive, coded by Huffman tables, is of kind ",
                       marker - kBaseline);
    if (frame && length >= 7) {
      const int64_t height = bytes.byte(at + 3) << 8 | bytes.byte(at + 4),
                    width = bytes.byte(at + 5) << 8 | bytes.byte(at + 6);
      require<DataError>(width * height <= kMostPixels * static_cast<int64_t>(file.size()), where, ": ",
                         width, " x ", height, " pixels cannot be coded in ", file.size(), " bytes");
    }
    at += length;
    if (marker == kScan) {
      require<DataError>(++scans <= kMostScans, where, ": the JPEG must have at most ", kMostScans, " scans");
      const auto is_data = [&](size_t i) {
        return bytes.byte(i) != 0xff || bytes.byte(i + 1) == 0 || is_restart(bytes.byte(i + 1));
      };
      while (at + 1 < file.size() && is_data(at)) {
        ++at;
      }
    }
  }
  require<DataError>(scans > 0, where, ": the JPEG has no scan");
}

void check_bmp(std::span<const std::byte> file, std::string_view where) {
  const ImageBytes bytes(file);
  constexpr size_t kLeast = 26;  // with the smallest of its headers
  require<DataError>(file.size() >= kLeast, where, ": must have ", kLeast, " bytes of header, got ",
                     file.size());
  const uint32_t offset = bytes.little(10, 4), size = bytes.little(14, 4);
  const bool old = size == 12;
  require<DataError>(old || file.size() >= 54, where, ": must have 54 bytes of header, got ", file.size());
  const int64_t width = old ? int64_t{bytes.little(18, 2)} : static_cast<int32_t>(bytes.little(18, 4));
  const int64_t height = old ? int64_t{bytes.little(20, 2)} : static_cast<int32_t>(bytes.little(22, 4));
  const int64_t depth = old ? bytes.little(24, 2) : bytes.little(28, 2);
  require_image_size(width, std::abs(height), where);
  require<DataError>(depth == 1 || depth == 4 || depth == 8 || depth == 16 || depth == 24 || depth == 32,
                     where, ": a pixel must have 1, 4, 8, 16, 24 or 32 bits, got ", depth);
  const int64_t end = offset + (width * depth + 31) / 32 * 4 * std::abs(height);
  require<DataError>(end <= static_cast<int64_t>(file.size()), where, ": ", width, " x ", std::abs(height),
                     " pixels of ", depth, " bits must end at byte ", end, ", the file has ", file.size());
}

namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff", kBmp = "BM";

bool ends_with(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), path.rbegin(), [](char e, char c) {
           return e == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

}  // namespace

Array parse_image(std::span<const std::byte> file, std::string_view where) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<size_t>(file.size(), 8));
  if (start.starts_with(kPng)) {
    check_png(file, where);
  } else if (start.starts_with(kJpeg)) {
    check_jpeg(file, where);
    return decode_jpeg(file, where);
  } else {
    require<DataError>(start.starts_with(kBmp), where, ": must be a PNG, JPEG or BMP image, begins with ",
                       quote(start));
    check_bmp(file, where);
  }
  return decode_image(file, where);
}

Array read_image(const std::string& path) {
  return parse_image(MappedFile(path).bytes(), path);
}

bool is_image_file(std::string_view path) {
  return ends_with(path, ".png") || ends_with(path, ".jpg") || ends_with(path, ".jpeg") ||
         ends_with(path, ".bmp");
}

void write_image(const std::string& path, const Array& image, Existing existing) {
  const bool png = ends_with(path, ".png");
  require<ConfigError>(png || ends_with(path, ".bmp"), path, ": images are written as .png or .bmp");
  AtomicFile file(path, existing);
  file.write(png ? png_bytes(image) : bmp_bytes(image));
  file.commit();
}

namespace {

using Bytes = std::vector<std::byte>;

void add(Bytes& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void add_big(Bytes& to, uint32_t x) {
  for (const int shift : {24, 16, 8, 0}) {
    to.push_back(static_cast<std::byte>(x >> shift & 0xff));
  }
}

void add_little(Bytes& to, uint32_t x, int bytes) {
  for (int k = 0; k < bytes; ++k) {
    to.push_back(static_cast<std::byte>(x >> 8 * k & 0xff));
  }
}

void require_image(const Array& image, bool shape, const char* format, const char* what) {
  const auto size = byte_count(image.type, image.shape);
  require(shape && size && *size == image.bytes.size() && image.shape[0] >= 1 && image.shape[1] >= 1 &&
              image.shape[0] <= image_side_limit && image.shape[1] <= image_side_limit,
          format, ": must be ", what, ", got ", name_of(image.type), " of shape ", shape_text(image.shape));
}

void add_chunk(Bytes& to, std::string_view name, const Bytes& data) {
  add_big(to, static_cast<uint32_t>(data.size()));
  const size_t begin = to.size();
  add(to, name);
  to.insert(to.end(), data.begin(), data.end());
  add_big(to, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(to.data() + begin),
                                          static_cast<uInt>(to.size() - begin))));
}

}  // namespace

Bytes png_bytes(const Array& image) {
  const bool deep = image.type == ElementType::u16;
  const bool shape = image.shape.size() == 3 && image.shape[2] >= 1 && image.shape[2] <= 4 &&
                     (deep || image.type == ElementType::u8);
  require_image(image, shape, "png", "(H, W, 1 to 4) u8 or u16");
  const int64_t h = image.shape[0], c = image.shape[2], pixel = c * (deep ? 2 : 1),
                row = image.shape[1] * pixel;
  // Each row by its difference to the pixel on the left (filter 1): photographs pack better, and masks no
  // worse.
  Bytes rows;
  rows.reserve(h * (row + 1));
  for (int64_t i = 0; i < h; ++i) {
    rows.push_back(std::byte{1});
    for (int64_t j = 0; j < row; ++j) {
      const int64_t k = deep ? j ^ 1 : j;  // PNG is big endian
      const auto at = [&](int64_t byte) { return std::to_integer<int>(image.bytes[i * row + byte]); };
      rows.push_back(static_cast<std::byte>(at(k) - (j >= pixel ? at(k - pixel) : 0)));
    }
  }
  Bytes packed(compressBound(rows.size()));
  uLongf size = packed.size();
  require(compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                    reinterpret_cast<const Bytef*>(rows.data()), rows.size(), 6) == Z_OK,
          "png: there is no memory to pack the image");
  packed.resize(size);
  constexpr uint8_t colours[] = {0, 4, 2, 6};
  Bytes header, file;
  add_big(header, static_cast<uint32_t>(image.shape[1]));
  add_big(header, static_cast<uint32_t>(h));
  for (const int x : {deep ? 16 : 8, static_cast<int>(colours[c - 1]), 0, 0, 0}) {
    header.push_back(static_cast<std::byte>(x));
  }
  add(file, "\x89PNG\r\n\x1a\n");
  add_chunk(file, "IHDR", header);
  add_chunk(file, "IDAT", packed);
  add_chunk(file, "IEND", {});
  return file;
}

Bytes bmp_bytes(const Array& image) {
  const bool shape = image.shape.size() == 3 && (image.shape[2] == 1 || image.shape[2] == 3) &&
                     image.type == ElementType::u8;
  require_image(image, shape, "bmp", "(H, W, 1 or 3) u8");
  const int64_t h = image.shape[0], w = image.shape[1], c = image.shape[2];
  const int64_t row = (w * c + 3) / 4 * 4, palette = c == 1 ? 1024 : 0, offset = 54 + palette;
  Bytes file;
  file.reserve(offset + row * h);
  add(file, "BM");
  for (const int64_t x : {offset + row * h, int64_t{0}, offset, int64_t{40}, w, h}) {
    add_little(file, static_cast<uint32_t>(x), 4);
  }
  add_little(file, 1, 2);
  add_little(file, static_cast<uint32_t>(8 * c), 2);
  constexpr int64_t kPerMetre = 2835;  // 72 to the inch
  for (const int64_t x : {int64_t{0}, row * h, kPerMetre, kPerMetre, palette / 4, int64_t{0}}) {
    add_little(file, static_cast<uint32_t>(x), 4);
  }
  for (uint32_t grey = 0; grey < palette / 4; ++grey) {
    add_little(file, grey * 0x010101, 4);
  }
  for (int64_t i = h - 1; i >= 0; --i) {  // from below
    for (int64_t j = 0; j < w; ++j) {
      for (int64_t k = c - 1; k >= 0; --k) {  // blue first
        file.push_back(image.bytes[(i * w + j) * c + k]);
      }
    }
    file.resize(file.size() + row - w * c);
  }
  return file;
}

}  // namespace weyl
