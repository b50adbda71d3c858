#include "weyl/core/quote.h"

#include "weyl/core/utf8.h"

namespace weyl {
namespace {

constexpr char digits[] = "0123456789abcdef";

void add_byte(std::string& out, unsigned char byte) {
  out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

/// Delete and C1; separators of lines and paragraphs; marks, embeddings, overrides and isolates of direction.
bool acts(uint32_t code) {
  return (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

constexpr std::string_view formula_starts = "=+-@";

}  // namespace

std::string printable(std::string_view text, size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      add_byte(out, byte);
    }
  }
  return text.size() > most ? out + "..." : out;
}

std::string visible(std::string_view text, std::string_view keep) {
  std::string out;
  while (!text.empty()) {
    const Utf8 first = first_utf8(text);
    if (!first.valid || (first.code < 0x20 && keep.find(text.front()) == std::string_view::npos)) {
      for (const char c : text.substr(0, first.bytes)) {
        add_byte(out, static_cast<unsigned char>(c));
      }
    } else if (acts(first.code)) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) {
        out += digits[first.code >> shift & 15];
      }
    } else {
      out += text.substr(0, first.bytes);
    }
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  std::string cell = visible(text);
  if (!cell.empty() && formula_starts.find(cell.front()) != std::string_view::npos) {
    cell.insert(cell.begin(), '\'');
  }
  if (cell.find_first_of(",;\"") == std::string::npos) {
    return cell;
  }
  std::string quoted(1, '"');
  for (const char c : cell) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  quoted += '"';
  return quoted;
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  for (std::string& cell : cells) {
    if (cell.size() > 1 && cell[0] == '\'' && formula_starts.find(cell[1]) != std::string_view::npos) {
      cell.erase(0, 1);
    }
  }
  return cells;
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
