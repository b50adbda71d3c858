#include "weyl/core/utf8.h"

namespace weyl {

Utf8 first_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  if (lead < 0xc2 || lead > 0xf4) {
    return {lead, 1, false};
  }
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  uint32_t code = lead & (0xffu >> (bytes + 1));
  // Of the second byte some leads allow a part only: what is shorter elsewhere, surrogates, and beyond U+10FFFF.
  unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < bytes; ++i, least = 0x80, most = 0xbf) {
    const auto byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    if (byte < least || byte > most) {
      return {code, i, false};
    }
    code = code << 6 | (byte & 0x3fu);
  }
  return {code, bytes, true};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8 first = first_utf8(text);
    if (!first.valid) {
      return false;
    }
    text.remove_prefix(first.bytes);
  }
  return true;
}

void append_utf8(std::string& to, uint32_t code) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  const auto rest = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    rest(0);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    rest(6);
    rest(0);
  } else {
    put(0xf0 | code >> 18);
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace weyl
