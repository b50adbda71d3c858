#include "weyl/core/markdown.h"

#include "weyl/core/quote.h"

namespace weyl {

std::string markdown_text(std::string_view words) {
  const auto is_of_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  };
  const std::string shown = visible(words);
  std::string out;
  for (size_t i = 0; i < shown.size(); ++i) {
    const bool within = i > 0 && i + 1 < shown.size() && is_of_word(shown[i - 1]) && is_of_word(shown[i + 1]);
    if (std::string_view("\\`*[]<>|&#~$!").find(shown[i]) != std::string_view::npos ||
        (shown[i] == '_' && !within)) {
      out += '\\';
    }
    out += shown[i];
  }
  return out;
}

}  // namespace weyl
