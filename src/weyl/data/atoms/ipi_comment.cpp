#include "weyl/data/atoms/ipi_comment.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {
namespace {

/// The lattice vectors of three lengths and three angles: the first along x, the second in the plane of x and y.
std::array<double, 9> cell_of_angles(const std::vector<double>& abc) {
  constexpr double degree = std::numbers::pi / 180, right = 90;
  const auto cosine = [&](double angle) { return angle == right ? 0 : std::cos(angle * degree); };
  const double a = abc[0], b = abc[1], c = abc[2], alpha = cosine(abc[3]), beta = cosine(abc[4]),
               gamma = cosine(abc[5]);
  const double sine = std::sqrt(1 - gamma * gamma);
  const double y = (alpha - beta * gamma) / sine, z = std::sqrt(1 - beta * beta - y * y);
  return {a, 0, 0, b * gamma, b * sine, 0, c * beta, c * y, c * z};
}

/// Splits "positions{angstrom}" into its name and its unit.
void read_braces(std::string_view word, IpiComment& to) {
  const size_t open = word.find('{');
  if (open == std::string_view::npos || !word.ends_with('}')) {
    return;
  }
  const std::string name(word.substr(0, open));
  const std::string unit(word.substr(open + 1, word.size() - open - 2));
  if (name == "cell") {
    to.cell_unit = unit;
  } else {
    to.quantity = name;
    to.unit = unit;
  }
}

}  // namespace

std::optional<IpiComment> parse_ipi_comment(std::string_view line) {
  constexpr std::string_view begin = "CELL";
  std::string_view rest = trimmed(line);
  if (rest.starts_with('#')) {
    rest.remove_prefix(1);
  }
  std::string_view form = take_word(rest);  // "CELL(abcABC):"
  if (!form.starts_with(begin) || form.size() < begin.size() + 4 ||
      std::string_view("([{").find(form[begin.size()]) == std::string_view::npos || !form.ends_with(':')) {
    return std::nullopt;
  }
  form = form.substr(begin.size() + 1, form.size() - begin.size() - 3);
  const bool angles = form == "abcABC", matrix = form == "H" || form == "GENH";
  if (!angles && !matrix) {  // somebody's own words
    return std::nullopt;
  }
  const size_t count = angles ? 6 : 9;
  std::vector<double> numbers;
  while (numbers.size() < count) {
    const auto word = take_word(rest);
    const auto x = parse_real(word);
    require<DataError>(x && std::isfinite(*x), "the cell ", form, " of i-PI's comment must be ", count,
                       " finite numbers, got ", quote(word, 40));
    numbers.push_back(*x);
  }
  IpiComment result;
  if (angles) {
    result.cell = cell_of_angles(numbers);
    require<DataError>(
        std::ranges::all_of(result.cell, [](double x) { return std::isfinite(x); }),
        "the cell of i-PI's comment must be three lengths and three angles of a cell with a volume");
  } else {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        result.cell[3 * j + i] = numbers[3 * i + j];
      }
    }
  }
  for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
    read_braces(word, result);
  }
  return result;
}

}  // namespace weyl
