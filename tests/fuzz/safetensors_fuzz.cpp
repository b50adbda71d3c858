#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace {

/// The file with the right checksum of its header, where it has one: what lies behind it would never be reached.
std::string sealed(std::string file) {
  const std::string begin = R"({"__metadata__":{"weyl.xxh3_64.header":"0123456789abcdef)";
  uint64_t length = 0;
  std::memcpy(&length, file.data(), std::min(file.size(), sizeof length));
  if (length >= begin.size() && length <= file.size() - std::min(file.size(), sizeof length)) {
    std::string head = file.substr(0, sizeof length + length);
    weyl::seal_header(head);
    file.replace(0, head.size(), head);
  }
  return file;
}

void check(const std::string& file) {
  try {
    const auto size = file.size();
    const auto header = weyl::parse_safetensors(std::as_bytes(std::span(file)), size, "input");
    for (const auto& [name, tensor] : header.tensors) {
      if (tensor.begin > tensor.end || tensor.end > size - header.data_begin ||
          weyl::byte_count(tensor.type, tensor.shape) != tensor.end - tensor.begin) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
}

}  // namespace

/// A header is refused with a DataError, or every tensor of it lies within the data and has the bytes of its
/// shape.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  check(file);
  check(sealed(file));
  return 0;
}
