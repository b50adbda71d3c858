#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/data/atoms/ase_row.h"

namespace {

void expect_one_line(std::string_view said) {
  if (said.find('\n') != std::string_view::npos) {
    std::abort();
  }
}

/// A value comes back from what is written of it.
bool is_json(const std::string& input) {
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
    return true;
  } catch (const weyl::DataError& error) {
    expect_one_line(error.what());
    return false;
  }
}

/// Python's numbers too; of what JSON allows it may refuse a key that is there twice.
void read_as_python(const std::string& input, bool standard) {
  try {
    weyl::parse_python_json(input, "input");
  } catch (const weyl::DataError& error) {
    const std::string_view said = error.what();
    expect_one_line(said);
    if (standard && said.find("has a key twice") == std::string_view::npos) {
      std::abort();
    }
  }
}

}  // namespace

/// Any bytes are a value or a DataError of one line, as JSON and as what Python writes. The first byte, when it is a
/// digit, is how often the rest is put inside of arrays: ten to that power.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string input(reinterpret_cast<const char*>(data), size);
  if (size > 1 && data[0] >= '0' && data[0] <= '5' && data[1] == ' ') {
    size_t levels = 1;
    for (uint8_t i = '0'; i < data[0]; ++i) {
      levels *= 10;
    }
    input = std::string(levels, '[') + input.substr(2) + std::string(levels, ']');
  }
  read_as_python(input, is_json(input));
  return 0;
}
