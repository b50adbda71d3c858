#include <zlib.h>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/image.h"

namespace weyl {
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
