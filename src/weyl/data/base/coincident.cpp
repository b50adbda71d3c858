#include "weyl/data/base/coincident.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weyl {
namespace {

using Rows = std::vector<int64_t>;

class Finder {
 public:
  Finder(std::span<const double> x, int64_t dimension) : x_(x), dimension_(dimension) {}

  bool find() {
    Rows rows;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto count = static_cast<int64_t>(x_.size()) / dimension_;
    for (int64_t i = 0; i < count; ++i) {
      const auto point = x_.subspan(static_cast<size_t>(i * dimension_), static_cast<size_t>(dimension_));
      if (std::ranges::all_of(point, [](double v) { return std::isfinite(v); })) {
        const auto [least, most] = std::ranges::minmax(point);
        low = std::min(low, least);
        high = std::max(high, most);
        rows.push_back(i);
      }
    }
    low_ = low;
    tolerance_ = rows.empty() ? 0 : coincidence * high - coincidence * low;
    return rows.size() > 1 && (tolerance_ == 0 || in_runs(rows, 0));
  }

 private:
  double at(int64_t row, int64_t d) const { return x_[static_cast<size_t>(row * dimension_ + d)]; }

  /// Sorted by coordinate d, only points of one run, in which neighbours differ by no more than the tolerance,
  /// may coincide; of each run the next coordinate decides, and after the last one, cells.
  bool in_runs(Rows& rows, int64_t d) const {
    if (d == dimension_) {
      return in_cells(rows);
    }
    std::ranges::sort(rows, {}, [&](int64_t row) { return at(row, d); });
    for (size_t begin = 0; begin < rows.size();) {
      size_t end = begin + 1;
      while (end < rows.size() && at(rows[end], d) - at(rows[end - 1], d) <= tolerance_) {
        ++end;
      }
      if (end - begin > 1) {
        Rows run(rows.begin() + static_cast<ptrdiff_t>(begin), rows.begin() + static_cast<ptrdiff_t>(end));
        if (in_runs(run, d + 1)) {
          return true;
        }
      }
      begin = end;
    }
    return false;
  }

  /// What is left is chains of points that are near to their neighbours alone. In cells of twice the tolerance
  /// a point is compared with those of its own and of the adjacent cells: of points that do not coincide, a
  /// cell holds 2^D at most.
  bool in_cells(const Rows& rows) const {
    using Cell = std::vector<int64_t>;
    std::vector<std::pair<Cell, int64_t>> cells;
    for (const int64_t row : rows) {
      Cell cell(static_cast<size_t>(dimension_));
      for (int64_t d = 0; d < dimension_; ++d) {
        cell[static_cast<size_t>(d)] = static_cast<int64_t>((at(row, d) / 2 - low_ / 2) / tolerance_);
      }
      cells.emplace_back(std::move(cell), row);
    }
    std::ranges::sort(cells);
    const auto meets = [&](const Cell& cell, int64_t row) {
      for (auto other = std::ranges::lower_bound(cells, cell, {}, &std::pair<Cell, int64_t>::first);
           other != cells.end() && other->first == cell; ++other) {
        if (other->second != row && near(other->second, row)) {
          return true;
        }
      }
      return false;
    };
    for (const auto& [cell, row] : cells) {
      Cell adjacent = cell;  // counts through -1, 0, 1 in every coordinate
      for (int64_t& c : adjacent) {
        --c;
      }
      for (size_t d = 0; d < adjacent.size();) {
        if (meets(adjacent, row)) {
          return true;
        }
        for (d = 0; d < adjacent.size() && ++adjacent[d] > cell[d] + 1; ++d) {
          adjacent[d] = cell[d] - 1;
        }
      }
    }
    return false;
  }

  bool near(int64_t a, int64_t b) const {
    for (int64_t d = 0; d < dimension_; ++d) {
      if (std::abs(at(a, d) - at(b, d)) > tolerance_) {
        return false;
      }
    }
    return true;
  }

  std::span<const double> x_;
  int64_t dimension_;
  double low_ = 0, tolerance_ = 0;
};

}  // namespace

bool has_coincident(std::span<const double> x, int64_t dimension) {
  return dimension > 0 && Finder(x, dimension).find();
}

}  // namespace weyl
