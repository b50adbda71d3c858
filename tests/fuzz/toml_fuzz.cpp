#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/config/kitchen.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"

// Any bytes, as a document (with what follows a NUL as overrides), either read or end in a weyl::Error; what
// was read is written and reads back to the same. Anything else is a crash.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weyl;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> parts;
  while (parts.size() < 8) {
    const size_t end = rest.find('\0');
    parts.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(end + 1);
  }
  const std::string document = parts.front();
  parts.erase(parts.begin());
  Kitchen k;
  try {
    read_toml_text(document, "fuzz", parts, [&](Fields& f) { fields(f, k); });
  } catch (const Error& e) {
    if (std::string_view(e.what()).find('\n') != std::string_view::npos) {
      __builtin_trap();
    }
    return 0;
  }
  Kitchen back;
  read_toml_text(write_toml([&](Fields& f) { fields(f, k); }), "written", {},
                 [&](Fields& f) { fields(f, back); });
  if (!(back == k)) {
    __builtin_trap();
  }
  return 0;
}
