#include "weyl/data/images/image_decode.h"

#include <cstring>
#include <limits>
#include <memory>

#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS 32768
#include <stb_image.h>

namespace weyl {

static_assert(STBI_MAX_DIMENSIONS == image_side_limit);

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
