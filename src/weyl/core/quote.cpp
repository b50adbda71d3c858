#include "weyl/core/quote.h"

#include <algorithm>
#include <cctype>

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

std::string shell_word(const std::string& word) {
  const bool plain =
      !word.empty() && word.front() != '-' && word.front() != '~' &&
      std::ranges::all_of(word, [](unsigned char c) {
        return c >= 128 || std::isalnum(c) != 0 ||
               std::string_view("/._-+=,:@%").find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (plain) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

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
