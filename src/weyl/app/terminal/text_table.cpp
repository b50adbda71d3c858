#include "weyl/app/terminal/text_table.h"

#include <algorithm>

namespace weyl {

size_t characters(const std::string& words) {
  return static_cast<size_t>(
      std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], characters(row[c]));
    }
  }
  std::string lines;
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - characters(row[c]), ' ');
      lines += (c > 0 ? "  " : "") + (c == 0 ? row[c] + space : space + row[c]);
    }
    lines += "\n";
  }
  return lines;
}

}  // namespace weyl
