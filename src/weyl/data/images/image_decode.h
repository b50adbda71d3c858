#pragma once

#include <span>
#include <string_view>

#include "weyl/data/containers/array.h"

namespace weyl {

/// Decodes PNG, JPEG or BMP with stb. DataError beginning with `where`.
Array decode_image(std::span<const std::byte> file, std::string_view where);

}  // namespace weyl
