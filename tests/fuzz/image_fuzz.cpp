#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

namespace {

/// Makes the checksums of a PNG's chunks right, so that they do not keep the fuzzer out.
void mend_checksums(std::vector<std::byte>& file) {
  auto* bytes = reinterpret_cast<Bytef*>(file.data());
  const auto big = [&](size_t i) {
    return size_t{bytes[i]} << 24 | size_t{bytes[i + 1]} << 16 | size_t{bytes[i + 2]} << 8 |
           size_t{bytes[i + 3]};
  };
  for (size_t at = 8; file.size() >= at + 12 && big(at) <= file.size() - at - 12;) {
    const size_t length = big(at);
    const auto sum = static_cast<uint32_t>(crc32(0, bytes + at + 4, static_cast<uInt>(length + 4)));
    for (int k = 0; k < 4; ++k) {
      bytes[at + 8 + length + k] = static_cast<Bytef>(sum >> (24 - 8 * k));
    }
    at += 12 + length;
  }
}

}  // namespace

/// A file is refused with a DataError, or its image has the bytes of its shape and comes back from a PNG that
/// we write of it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> file(input.begin(), input.end());
  if (size > 0 && data[0] == 0x89) {
    mend_checksums(file);
  }
  try {
    const weyl::Array found = weyl::parse_image(file, "input");
    if (found.shape[0] * found.shape[1] > (1 << 16)) {
      return 0;  // well, but slow to write again
    }
    if (weyl::parse_image(weyl::png_bytes(found), "written") != found) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
