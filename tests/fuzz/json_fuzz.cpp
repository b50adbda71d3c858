#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/json.h"

/// Any bytes are a value or a DataError of one line, and a value comes back from what is written of it. The
/// first byte, when it is a digit, is how often the rest is put inside of arrays: ten to that power.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string input(reinterpret_cast<const char*>(data), size);
  if (size > 1 && data[0] >= '0' && data[0] <= '5' && data[1] == ' ') {
    size_t levels = 1;
    for (uint8_t i = '0'; i < data[0]; ++i) {
      levels *= 10;
    }
    input = std::string(levels, '[') + input.substr(2) + std::string(levels, ']');
  }
  try {
    const weyl::Json json = weyl::Json::parse(input, "input");
    const std::string written = json.dump();
    const weyl::Json back = weyl::Json::parse(written, "written");
    if (back.dump() != written) {
      std::abort();
    }
    for (const auto& [key, value] : json.members()) {
      if (json.find(key) != &value || back.find(key) == nullptr) {
        std::abort();
      }
    }
  } catch (const weyl::DataError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
      std::abort();
    }
  }
  return 0;
}
