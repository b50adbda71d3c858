#include "weyl/tasks/mask_surfaces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"

namespace weyl {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

std::array<int64_t, 3> strides_of(const std::array<int64_t, 3>& sizes) {
  return {sizes[1] * sizes[2], sizes[2], 1};
}

/// f(first cell) for each line of cells along an axis.
template <class F>
void each_line(const std::array<int64_t, 3>& sizes, int axis, const F& f) {
  const auto strides = strides_of(sizes);
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  for (int64_t i = 0; i < sizes[a]; ++i) {
    for (int64_t j = 0; j < sizes[b]; ++j) {
      f(i * strides[a] + j * strides[b]);
    }
  }
}

/// Squares of distances along a line of n cells, from those along the axes before: the least of f(q) + (p - q)^2 over q.
class Envelope {
 public:
  explicit Envelope(int64_t longest) : values_(longest), parabolas_(longest), borders_(longest + 1) {}

  void operator()(double* line, int64_t n, int64_t stride, double spacing) {
    int64_t last = -1;
    for (int64_t q = 0; q < n; ++q) {
      values_[q] = line[q * stride];
      if (values_[q] == kFar) {
        continue;
      }
      double begin = -kFar;  // where the parabola of q comes below those before it
      while (last >= 0) {
        begin = crossing(parabolas_[last], q, spacing);
        if (begin > borders_[last]) {
          break;
        }
        --last;
        begin = -kFar;
      }
      parabolas_[++last] = q;
      borders_[last] = begin;
    }
    if (last < 0) {
      return;
    }
    int64_t k = 0;
    for (int64_t p = 0; p < n; ++p) {
      while (k < last && borders_[k + 1] < static_cast<double>(p)) {
        ++k;
      }
      const double apart = spacing * static_cast<double>(p - parabolas_[k]);
      line[p * stride] = values_[parabolas_[k]] + apart * apart;
    }
  }

 private:
  double crossing(int64_t r, int64_t q, double spacing) const {
    const auto x = static_cast<double>(r), y = static_cast<double>(q);
    return 0.5 * (x + y) + (values_[q] - values_[r]) / (2 * spacing * spacing * (y - x));
  }

  std::vector<double> values_;
  std::vector<int64_t> parabolas_;
  std::vector<double> borders_;
};

/// The box of the cells that are inside one of two masks; nothing inside: sizes of 0.
struct Box {
  std::array<int64_t, 3> begin{}, sizes{};
};

Box box_of(const MaskView& first, const MaskView& second) {
  std::array<int64_t, 3> low = first.sizes, high{-1, -1, -1}, at{};
  size_t cell = 0;
  for (at[0] = 0; at[0] < first.sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < first.sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < first.sizes[2]; ++at[2], ++cell) {
        if (first.cells[cell] != 0 || second.cells[cell] != 0) {
          for (int a = 0; a < 3; ++a) {
            low[a] = std::min(low[a], at[a]);
            high[a] = std::max(high[a], at[a]);
          }
        }
      }
    }
  }
  Box box;
  for (int a = 0; a < 3 && high[0] >= 0; ++a) {
    box.begin[a] = low[a];
    box.sizes[a] = high[a] - low[a] + 1;
  }
  return box;
}

std::vector<uint8_t> cut(const std::vector<uint8_t>& cells, const std::array<int64_t, 3>& sizes,
                         const Box& box) {
  const auto strides = strides_of(sizes);
  std::vector<uint8_t> part;
  part.reserve(static_cast<size_t>(box.sizes[0] * box.sizes[1] * box.sizes[2]));
  for (int64_t i = 0; i < box.sizes[0]; ++i) {
    for (int64_t j = 0; j < box.sizes[1]; ++j) {
      const auto from =
          cells.begin() + (box.begin[0] + i) * strides[0] + (box.begin[1] + j) * strides[1] + box.begin[2];
      part.insert(part.end(), from, from + box.sizes[2]);
    }
  }
  return part;
}

std::vector<double> at_cells(const std::vector<double>& values, const std::vector<uint8_t>& cells) {
  std::vector<double> found;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != 0) {
      found.push_back(values[i]);
    }
  }
  return found;
}

bool both_empty(const SurfaceDistances& d) {
  return d.from_first.empty() && d.from_second.empty();
}

}  // namespace

std::vector<uint8_t> surface_of(const MaskView& mask) {
  const auto strides = strides_of(mask.sizes);
  std::vector<uint8_t> surface(mask.cells.size(), 0);
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t n = mask.sizes[axis], stride = strides[axis];
    if (mask.plane && axis == 0) {
      continue;
    }
    each_line(mask.sizes, axis, [&](int64_t first) {
      for (int64_t k = 0; k < n; ++k) {
        const int64_t cell = first + k * stride;
        const bool open =
            k == 0 || k == n - 1 || mask.cells[cell - stride] == 0 || mask.cells[cell + stride] == 0;
        surface[cell] |= static_cast<uint8_t>(mask.cells[cell] != 0 && open);
      }
    });
  }
  return surface;
}

std::vector<double> distances_to(const MaskView& mask) {
  std::vector<double> squares(mask.cells.size());
  std::ranges::transform(mask.cells, squares.begin(),
                         [](uint8_t inside) { return inside != 0 ? 0.0 : kFar; });
  Envelope envelope(*std::ranges::max_element(mask.sizes));
  const auto strides = strides_of(mask.sizes);
  for (int axis = 2; axis >= 0; --axis) {
    if (mask.sizes[axis] > 1) {
      each_line(mask.sizes, axis, [&](int64_t first) {
        envelope(squares.data() + first, mask.sizes[axis], strides[axis], mask.spacing[axis]);
      });
    }
  }
  std::ranges::transform(squares, squares.begin(), [](double x) { return std::sqrt(x); });
  return squares;
}

SurfaceDistances surface_distances(const MaskView& first, const MaskView& second) {
  require(first.sizes == second.sizes && first.spacing == second.spacing &&
              first.cells.size() == second.cells.size(),
          "surface_distances: both masks must be of one grid");
  const Box box = box_of(first, second);
  if (box.sizes[0] == 0) {
    return {};
  }
  // No cell of either surface is outside of the box, so that nothing else is looked at.
  const std::vector<uint8_t> a = cut(surface_of(first), first.sizes, box),
                             b = cut(surface_of(second), first.sizes, box);
  const auto view = [&](const std::vector<uint8_t>& cells) {
    return MaskView{cells, box.sizes, first.spacing, first.plane};
  };
  return {at_cells(distances_to(view(b)), a), at_cells(distances_to(view(a)), b)};
}

double hd95(const SurfaceDistances& d, bool pooled) {
  constexpr double most = 0.95;
  if (both_empty(d)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (d.from_first.empty() || d.from_second.empty()) {
    return kFar;
  }
  if (!pooled) {
    return std::max(quantile(d.from_first, most), quantile(d.from_second, most));
  }
  std::vector<double> all = d.from_first;
  all.insert(all.end(), d.from_second.begin(), d.from_second.end());
  return quantile(std::move(all), most);
}

double surface_dice(const SurfaceDistances& d, double tolerance) {
  if (both_empty(d)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double most = tolerance * (1 + 1e-5);
  const auto near = [&](const std::vector<double>& distances) {
    return std::ranges::count_if(distances, [&](double x) { return x <= most; });
  };
  return static_cast<double>(near(d.from_first) + near(d.from_second)) /
         static_cast<double>(d.from_first.size() + d.from_second.size());
}

}  // namespace weyl
