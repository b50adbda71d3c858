#include "weyl/data/images/image_decode.h"

#include <turbojpeg.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

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

Array decode_jpeg(std::span<const std::byte> file, std::string_view where) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), &tjDestroy);
  require<DataError>(decoder != nullptr, where, ": cannot decode the image: ", tjGetErrorStr2(nullptr));
  const auto require_read = [&](int status) {
    const std::string_view why = tjGetErrorStr2(decoder.get());
    // Bytes between segments take nothing away; what else is warned of are pixels that the file does not have.
    const bool harmless = tjGetErrorCode(decoder.get()) == TJERR_WARNING &&
                          why.find("extraneous bytes") != std::string_view::npos;
    require<DataError>(status == 0 || harmless, where, ": cannot decode the image: ", why);
  };
  const auto* data = reinterpret_cast<const unsigned char*>(file.data());
  int w = 0, h = 0, subsampling = 0, colours = 0;
  require_read(tjDecompressHeader3(decoder.get(), data, file.size(), &w, &h, &subsampling, &colours));
  require<DataError>(std::max(w, h) <= image_side_limit && int64_t{w} * h <= image_pixels_limit, where,
                     ": must have at most ", image_side_limit, " pixels a side and ", image_pixels_limit,
                     " in all, got ", w, " x ", h);
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  const int channels = inks ? 4 : colours == TJCS_GRAY ? 1 : 3;
  Array image{ElementType::u8, {h, w, channels}, std::vector<std::byte>(size_t{1} * w * h * channels)};
  require_read(tjDecompress2(decoder.get(), data, file.size(),
                             reinterpret_cast<unsigned char*>(image.bytes.data()), w, 0, h,
                             inks            ? TJPF_CMYK
                             : channels == 1 ? TJPF_GRAY
                                             : TJPF_RGB,
                             TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS));
  if (inks) {  // 255 is no ink, as Adobe writes them
    const auto value = [&](size_t i) { return std::to_integer<int>(image.bytes[i]); };
    image.shape[2] = 3;
    for (size_t pixel = 0; pixel < size_t{1} * w * h; ++pixel) {
      for (size_t c = 0; c < 3; ++c) {
        image.bytes[3 * pixel + c] =
            static_cast<std::byte>((value(4 * pixel + c) * value(4 * pixel + 3) + 127) / 255);
      }
    }
    image.bytes.resize(size_t{3} * w * h);
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
  require<DataError>(int64_t{w} * h <= image_pixels_limit, where, ": must have at most ", image_pixels_limit,
                     " pixels, got ", w, " x ", h);
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
