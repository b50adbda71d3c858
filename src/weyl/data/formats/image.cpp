#include "weyl/data/formats/image.h"

#include <algorithm>
#include <cctype>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/image_decode.h"
#include "weyl/data/formats/image_layout.h"

namespace weyl {
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

}  // namespace weyl
