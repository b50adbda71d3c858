#include "weyl/data/images/image_decode.h"

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it
#include <cstring>
#include <limits>
#include <memory>

#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

#include <jerror.h>
#include <jpeglib.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS 32768
#include <stb_image.h>

namespace weyl {

static_assert(STBI_MAX_DIMENSIONS == image_side_limit);

namespace {

/// What libjpeg reports to. Its errors leave by a jump, over frames that own nothing.
struct JpegFault {
  jpeg_error_mgr manager;  // must be the first
  std::jmp_buf back;
  std::array<char, JMSG_LENGTH_MAX> line;
};

[[noreturn]] void leave(j_common_ptr jpeg) {
  auto* fault = reinterpret_cast<JpegFault*>(jpeg->err);
  jpeg->err->format_message(jpeg, fault->line.data());
  std::longjmp(fault->back, 1);
}

/// Whether a warning is of pixels that the file does not have. Others, of headers, change nothing.
bool is_damage(const jpeg_error_mgr& error) {
  constexpr int first_restart = 0xd0, last_restart = 0xd7, end = 0xd9;
  const int marker = error.msg_parm.i[1];
  switch (error.msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
    case JWRN_TOO_MUCH_DATA:
      return true;
    case JWRN_EXTRANEOUS_DATA:  // what is left of a scan that lost step
      return (marker >= first_restart && marker <= last_restart) || marker == end;
    default:
      return false;
  }
}

void judge(j_common_ptr jpeg, int level) {
  if (level < 0 && is_damage(*jpeg->err)) {
    leave(jpeg);
  }
}

bool read_header(jpeg_decompress_struct& jpeg, JpegFault& fault, std::span<const std::byte> file) {
  if (setjmp(fault.back) != 0) {
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  const bool inks = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  const bool grey = jpeg.jpeg_color_space == JCS_GRAYSCALE;
  jpeg.out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
  return true;
}

bool read_pixels(jpeg_decompress_struct& jpeg, JpegFault& fault, unsigned char* to, size_t row) {
  if (setjmp(fault.back) != 0) {
    return false;
  }
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW next = to + jpeg.output_scanline * row;
    jpeg_read_scanlines(&jpeg, &next, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

/// Four inks, of which 255 is none, as Adobe writes them, become red, green and blue.
void inks_to_colours(Array& image) {
  const auto value = [&](size_t i) { return std::to_integer<int>(image.bytes[i]); };
  const size_t pixels = image.bytes.size() / 4;
  for (size_t p = 0; p < pixels; ++p) {
    for (size_t c = 0; c < 3; ++c) {
      image.bytes[3 * p + c] = static_cast<std::byte>((value(4 * p + c) * value(4 * p + 3) + 127) / 255);
    }
  }
  image.bytes.resize(3 * pixels);
  image.shape[2] = 3;
}

}  // namespace

Array decode_jpeg(std::span<const std::byte> file, std::string_view where) {
  JpegFault fault{};
  jpeg_decompress_struct jpeg{};
  jpeg.err = jpeg_std_error(&fault.manager);
  fault.manager.error_exit = leave;
  fault.manager.emit_message = judge;
  const auto require_read = [&](bool read) {
    require<DataError>(read, where, ": cannot decode the image: ", fault.line.data());
  };
  const std::unique_ptr<jpeg_decompress_struct, void (*)(j_decompress_ptr)> owner(&jpeg,
                                                                                  jpeg_destroy_decompress);
  require_read(read_header(jpeg, fault, file));
  const int64_t w = jpeg.image_width, h = jpeg.image_height;
  require_image_size(w, h, where);
  const int64_t channels = jpeg.out_color_space == JCS_CMYK ? 4 : jpeg.out_color_space == JCS_RGB ? 3 : 1;
  Array image{
      ElementType::u8, {h, w, channels}, std::vector<std::byte>(static_cast<size_t>(h * w * channels))};
  require_read(read_pixels(jpeg, fault, reinterpret_cast<unsigned char*>(image.bytes.data()),
                           static_cast<size_t>(w * channels)));
  if (channels == 4) {
    inks_to_colours(image);
  }
  return image;
}

Array decode_image(std::span<const std::byte> file, std::string_view where) {
  require<DataError>(file.size() < static_cast<size_t>(std::numeric_limits<int>::max()), where,
                     ": must be smaller than 2 GiB, got ", file.size(), " bytes");
  const auto* data = reinterpret_cast<const stbi_uc*>(file.data());
  const int size = static_cast<int>(file.size());
  int w = 0, h = 0, c = 0;
  const auto failed = [&] {
    const char* reason = stbi_failure_reason();
    return DataError(
        text(where, ": cannot decode the image: ", reason != nullptr ? reason : "no reason given"));
  };
  if (stbi_info_from_memory(data, size, &w, &h, &c) == 0) {
    throw failed();
  }
  require_image_size(w, h, where);
  const bool deep = stbi_is_16_bit_from_memory(data, size) != 0;
  const std::unique_ptr<void, decltype(&stbi_image_free)> pixels(
      deep ? static_cast<void*>(stbi_load_16_from_memory(data, size, &w, &h, &c, 0))
           : stbi_load_from_memory(data, size, &w, &h, &c, 0),
      stbi_image_free);
  if (pixels == nullptr) {
    throw failed();
  }
  Array image{deep ? ElementType::u16 : ElementType::u8, {h, w, c}, {}};
  image.bytes.resize(size_t{1} * w * h * c * (deep ? 2 : 1));
  std::memcpy(image.bytes.data(), pixels.get(), image.bytes.size());
  return image;
}

}  // namespace weyl
