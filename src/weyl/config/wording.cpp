#include "weyl/config/wording.h"

#include <charconv>
#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string shortest(double x) {
  char buffer[64];
  const bool integral = x == std::trunc(x) && std::abs(x) < 1e15;
  const auto end = integral ? std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::fixed)
                            : std::to_chars(buffer, buffer + sizeof buffer, x);
  return {buffer, end.ptr};
}

}  // namespace

std::string toml_number(double x) {
  if (std::isnan(x)) {
    return "nan";
  }
  if (std::isinf(x)) {
    return x < 0 ? "-inf" : "inf";
  }
  std::string s = shortest(x);
  if (s.find_first_of(".e") == std::string::npos) {
    s += ".0";
  }
  return s;
}

std::string no_such_item(std::string_view list, size_t size, int64_t number) {
  return text(list, " has ", size, size == 1 ? " item" : " items", ", numbered from 0, got ", number,
              size == 0 ? text("; the list is given whole, as in ", list, "=[...]") : "");
}

std::string toml_string(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          constexpr char digits[] = "0123456789abcdef";
          out += "\\u00";
          out += digits[static_cast<unsigned char>(c) >> 4];
          out += digits[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string one_line(std::string_view s, size_t longest) {
  std::string out;
  for (const char c : s) {
    if (out.size() >= longest) {
      // Not in the middle of a character of several bytes.
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) {
        out.pop_back();
      }
      if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) {
        out.pop_back();
      }
      return out + "...";
    }
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out;
}

std::string in_range(std::string_view noun, Range range) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  if (low && high) {
    return text(noun, " from ", shortest(range.low), " to ", shortest(range.high));
  }
  if (low) {
    return text(noun, " of at least ", shortest(range.low));
  }
  if (high) {
    return text(noun, " of at most ", shortest(range.high));
  }
  return std::string(noun);
}

std::string toml_choice(std::string_view name) {
  return name == "true" || name == "false" ? std::string(name) : toml_string(name);
}

std::string one_of(std::span<const std::string_view> names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    out += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    out += toml_choice(names[i]);
  }
  return out;
}

}  // namespace weyl
