#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace weyl {

/// Checks a file of images without decoding it: what its decoder takes on trust (stb reads zeros beyond the
/// end, and unpacks all that a PNG holds). DataError beginning with `where`.

/// Every chunk within the file and with its checksum, the header first and the end last; the packed rows
/// unpack to as many bytes as they must and no more.
void check_png(std::span<const std::byte> file, std::string_view where);

/// Every segment within the file up to the end marker, a scan among them, Huffman tables of at most 256
/// codes.
void check_jpeg(std::span<const std::byte> file, std::string_view where);

/// All rows within the file.
void check_bmp(std::span<const std::byte> file, std::string_view where);

}  // namespace weyl
