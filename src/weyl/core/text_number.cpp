#include "weyl/core/text_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weyl {
namespace {

constexpr size_t kLongest = 64;  // characters of a number with Fortran's exponent, or one too small

/// The number at the front without its plus, which std::from_chars refuses.
std::string_view unsigned_plus(std::string_view token) {
  return token.size() > 1 && token[0] == '+' && token[1] != '-' ? token.substr(1) : token;
}

template <class T>
void append(std::string& to, T x) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), x);
  to.append(digits.data(), end);
}

}  // namespace

std::optional<double> parse_real(std::string_view token) {
  token = unsigned_plus(token);
  double x = 0;
  const char* last = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), last, x);
  if (error == std::errc() && stop == last) [[likely]] {
    return x;
  }
  if (token.size() > kLongest || token.empty()) {
    return std::nullopt;
  }
  if (error == std::errc() && (*stop == 'd' || *stop == 'D') && stop + 1 != last) {
    std::string again(token);
    again[stop - token.data()] = 'e';
    const bool exponent = (stop[1] >= '0' && stop[1] <= '9') || stop[1] == '-' || stop[1] == '+';
    return exponent ? parse_real(again) : std::nullopt;
  }
  if (error == std::errc::result_out_of_range && stop == last) {
    x = std::strtod(std::string(token).c_str(), nullptr);  // 0, a denormal or infinity
    return std::isinf(x) ? std::nullopt : std::optional(x);
  }
  return std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view token) {
  token = unsigned_plus(token);
  int64_t x = 0;
  const char* last = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), last, x);
  return error == std::errc() && stop == last && !token.empty() ? std::optional(x) : std::nullopt;
}

std::string short_number(double x) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%.4g", x);
  return digits.data();
}

void append_number(std::string& to, double x) {
  append(to, x);
}

void append_number(std::string& to, int64_t x) {
  append(to, x);
}

}  // namespace weyl
