#include "weyl/algebra/irreps/irreps.h"

#include <algorithm>
#include <charconv>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Takes a number from the front of `text`; false if there is none.
bool take_number(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return false;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_part(std::string_view text, Irreps::Part& part) {
  int64_t number = 0;
  if (!take_number(text, number)) {
    return false;
  }
  part = {1, {number, Parity::none}};
  if (text.starts_with('x')) {
    text.remove_prefix(1);
    part.channels = number;
    if (!take_number(text, part.irrep.degree)) {
      return false;
    }
  }
  if (text == "e" || text == "o") {
    part.irrep.parity = text == "e" ? Parity::even : Parity::odd;
    text = {};
  }
  const auto between = [](int64_t x, int64_t low, int64_t high) { return low <= x && x <= high; };
  return text.empty() && between(part.channels, 1, 1000000) && between(part.irrep.degree, 0, 64);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

Irreps Irreps::parse(std::string_view text) {
  Irreps result;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t plus = rest.find('+');
    const std::string_view word = trimmed(rest.substr(0, plus));
    Part part;
    require<ConfigError>(
        take_part(word, part), "irreps '", text,
        "': each part must be like 8x0, 4x1o or 2e (channels, degree up to 64, parity e or o), got '", word,
        "'");
    result.parts.push_back(part);
    more = plus != std::string_view::npos;
    rest.remove_prefix(more ? plus + 1 : rest.size());
  }
  const bool parities = result.parts[0].irrep.parity != Parity::none;
  const bool alike = std::all_of(result.parts.begin(), result.parts.end(), [&](const Part& part) {
    return (part.irrep.parity != Parity::none) == parities;
  });
  require<ConfigError>(alike, "irreps '", text, "': all parts must have a parity, or none");
  return result;
}

std::string Irreps::text() const {
  std::string result;
  for (const Part& part : parts) {
    result += result.empty() ? "" : "+";
    result += std::to_string(part.channels) + "x" + std::to_string(part.irrep.degree);
    result += part.irrep.parity == Parity::none ? "" : part.irrep.parity == Parity::even ? "e" : "o";
  }
  return result;
}

int64_t Irreps::dimension() const {
  int64_t sum = 0;
  for (const Part& part : parts) {
    sum += part.channels * part.irrep.dimension();
  }
  return sum;
}

int64_t Irreps::highest() const {
  int64_t degree = 0;
  for (const Part& part : parts) {
    degree = std::max(degree, part.irrep.degree);
  }
  return degree;
}

}  // namespace weyl
