#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/containers/array.h"

namespace weyl {

/// Checks a file of images without decoding it: what its decoder takes on trust (stb reads zeros beyond the
/// end, and unpacks all that a PNG holds). DataError beginning with `where`.

/// Every chunk within the file and with its checksum, the header first and the end last; the packed rows
/// unpack to as many bytes as they must and no more.
void check_png(std::span<const std::byte> file, std::string_view where);

/// Every segment within the file up to the end marker, a scan among them; no more pixels than so many bytes can code.
void check_jpeg(std::span<const std::byte> file, std::string_view where);

/// All rows within the file.
void check_bmp(std::span<const std::byte> file, std::string_view where);

/// What an image may have at most: pixels of a side, and pixels in all.
constexpr int64_t image_side_limit = 32768, image_pixels_limit = int64_t{1} << 26;
/// DataError, beginning with `where`, beyond these limits or without a pixel.
void require_image_size(int64_t width, int64_t height, std::string_view where);

/// Reads PNG (8 bits and fewer, or 16), JPEG or BMP, told apart by content, into (H, W, C) u8, or u16 of a
/// PNG of 16 bits; C is 1 (grey), 2 (grey, alpha), 3 (rgb) or 4 (rgb, alpha), palettes are looked up.
/// DataError beginning with `where`: another format, cut short, damaged (of PNG every checksum), no pixel,
/// more than the limits.
Array parse_image(std::span<const std::byte> file, std::string_view where);
Array read_image(const std::string& path);

/// Whether a path ends as such files do: .png, .jpg, .jpeg, .bmp, in small letters or capitals.
bool is_image_file(std::string_view path);

/// The bytes of a PNG of (H, W, C) u8 or u16; equal images give equal bytes. ShapeError for another shape or
/// type.
std::vector<std::byte> png_bytes(const Array& image);

/// The bytes of a BMP of (H, W, 1) (a palette of greys) or (H, W, 3) u8. ShapeError for another shape or
/// type.
std::vector<std::byte> bmp_bytes(const Array& image);

/// Writes .png or .bmp, by the name, atomically (core/atomic_file.h). ConfigError for another name.
void write_image(const std::string& path, const Array& image, Existing existing = Existing::replace);

}  // namespace weyl
