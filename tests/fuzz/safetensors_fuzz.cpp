#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

/// A header is refused with a DataError, or every tensor of it lies within the data and has the bytes of its
/// shape.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto header = weyl::parse_safetensors(std::as_bytes(std::span(data, size)), size, "input");
    for (const auto& [name, tensor] : header.tensors) {
      if (tensor.begin > tensor.end || tensor.end > size - header.data_begin ||
          weyl::byte_count(tensor.type, tensor.shape) != tensor.end - tensor.begin) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
