#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/images/digit_files.h"

/// A file is refused with a DataError, or its array comes back from the bytes that we write of it, also
/// packed. The same input, repeated, as a batch of CIFAR-10.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  constexpr uint64_t limit = 1 << 22;
  try {
    const weyl::Array found = weyl::parse_idx(input, "input", limit);
    const auto bytes = weyl::idx_bytes(found);
    if (weyl::parse_idx(bytes, "written") != found ||
        weyl::parse_idx(weyl::gzip(bytes, "written"), "packed") != found) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  try {
    std::vector<std::byte> records((size / 100) * 3073);
    for (size_t i = 0; i < records.size(); ++i) {
      records[i] = input[i % size];
    }
    const auto images = weyl::parse_cifar10(records, "input");
    if (images.pixels.size() != images.labels.size() * weyl::cifar_pixels) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
