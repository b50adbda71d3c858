#include "weyl/core/quote.h"

namespace weyl {

std::string printable(std::string_view text, size_t most) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text.size() > most ? out + "..." : out;
}

std::string quote(std::string_view text, size_t most) {
  std::string out(1, '\'');
  out += printable(text, most);
  out += '\'';
  return out;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    out += i > 0 ? ", " : "";
    if (i == 8) {
      out += "...";
      break;
    }
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

}  // namespace weyl
