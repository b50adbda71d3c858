#include "weyl/data/shapes/farthest_points.h"

#include <algorithm>
#include <array>
#include <limits>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::array<double, 3> place_of(std::span<const double> points, int64_t row) {
  return {points[3 * row], points[3 * row + 1], points[3 * row + 2]};
}

/// Lowers the squared distance of each point to those that were chosen, by one more of them.
void lower(std::span<const double> points, const std::array<double, 3>& chosen,
           std::vector<double>& squares) {
  for (size_t i = 0; i < squares.size(); ++i) {
    const double x = points[3 * i] - chosen[0], y = points[3 * i + 1] - chosen[1],
                 z = points[3 * i + 2] - chosen[2];
    squares[i] = std::min(squares[i], x * x + y * y + z * z);
  }
}

int64_t largest(const std::vector<double>& values) {  // the first of equals
  return std::ranges::max_element(values) - values.begin();
}

int64_t farthest_from_the_mean(std::span<const double> points, int64_t count) {
  std::array<double, 3> mean{};
  for (size_t i = 0; i < points.size(); ++i) {
    mean[i % 3] += points[i] / static_cast<double>(count);
  }
  std::vector<double> squares(count, std::numeric_limits<double>::infinity());
  lower(points, mean, squares);
  return largest(squares);
}

}  // namespace

std::vector<int64_t> farthest_points(std::span<const double> points, int64_t count,
                                     std::optional<int64_t> first) {
  const int64_t all = std::ssize(points) / 3;
  require(points.size() % 3 == 0, "farthest_points: points must be (P, 3), got ", points.size(), " numbers");
  require(count >= 1 && count <= all, "farthest_points: count must be 1 .. ", all, ", got ", count);
  require(!first || (*first >= 0 && *first < all), "farthest_points: first must be 0 .. ", all - 1, ", got ",
          first.value_or(0));
  std::vector<double> squares(all, std::numeric_limits<double>::infinity());
  std::vector<int64_t> rows;
  rows.reserve(count);
  int64_t next = first ? *first : farthest_from_the_mean(points, all);
  for (;;) {
    rows.push_back(next);
    if (std::ssize(rows) == count) {
      return rows;
    }
    lower(points, place_of(points, next), squares);
    squares[next] = -1;  // below every distance: not even points at one place are taken twice
    next = largest(squares);
  }
}

}  // namespace weyl
