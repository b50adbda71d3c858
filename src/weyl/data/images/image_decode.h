#pragma once

#include <span>
#include <string_view>

#include "weyl/data/containers/array.h"

namespace weyl {

/// Decodes PNG or BMP with stb. DataError beginning with `where`.
Array decode_image(std::span<const std::byte> file, std::string_view where);

/// Decodes JPEG with libjpeg-turbo: stb reads outside of its tables where a broken file tells it to. Colours of four inks
/// become red, green and blue. DataError likewise, also where the library notices that a scan is damaged: some damage looks
/// like other pixels.
Array decode_jpeg(std::span<const std::byte> file, std::string_view where);

}  // namespace weyl
