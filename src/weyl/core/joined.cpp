#include "weyl/core/joined.h"

#include "weyl/core/quote.h"

namespace weyl {

std::string joined(std::span<const std::string> words, std::string_view between) {
  std::string line;
  for (size_t i = 0; i < words.size(); ++i) {
    line += i == 0 ? "" : between;
    line += words[i];
  }
  return line;
}

std::string joined_printable(std::span<const std::string> words) {
  std::string line;
  for (size_t i = 0; i < words.size(); ++i) {
    line += (i == 0 ? "" : ", ") + printable(words[i]);
  }
  return line;
}

}  // namespace weyl
