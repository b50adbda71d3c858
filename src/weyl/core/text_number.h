#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weyl {

/// A whole token as a number; nothing when it is none. Reals: a sign, a decimal point, an exponent after e,
/// E, or Fortran's d and D; nan, inf. What is too large for a double is none, what is too small is 0.
std::optional<double> parse_real(std::string_view token);
/// A sign and digits.
std::optional<int64_t> parse_integer(std::string_view token);

/// A number to four digits, for people: "0.1235", "1.2e+09".
std::string short_number(double x);

/// The shortest text that reads as the same number. A real without a fraction is written like an integer.
void append_number(std::string& to, double x);
void append_number(std::string& to, int64_t x);

}  // namespace weyl
