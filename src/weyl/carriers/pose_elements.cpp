#include "weyl/carriers/pose_elements.h"

#include <ATen/ops/empty.h>

#include <limits>

#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr int64_t kAllPairs = 256;  // tokens of a graph up to which every pair is looked at

using Numbers = std::span<double>;

/// The rows of a tensor (N, ...) in float64.
class TensorRows {
 public:
  TensorRows(const Tensor& t, at::IntArrayRef inner, const char* what)
      : all_(t.detach().to(at::kCPU, at::kDouble).contiguous()) {
    require(t.dim() == static_cast<int64_t>(inner.size()) + 1 && t.sizes().slice(1) == inner, what,
            ": must be (N, ", inner[0], inner.size() > 1 ? ", " + std::to_string(inner[1]) : std::string(),
            "), got ", t.sizes());
    for (const int64_t n : inner) {
      width_ *= n;
    }
  }
  int64_t count() const { return all_.size(0); }
  std::span<const double> operator[](int64_t row) const {
    return {all_.const_data_ptr<double>() + row * width_, static_cast<size_t>(width_)};
  }

 private:
  Tensor all_;
  int64_t width_ = 1;
};

TensorRows matrices(LieGroup group, const Tensor& elements) {
  const int64_t m = matrix_size(group);
  return {elements, {m, m}, "elements"};
}

/// (N, m, m), row i filled by fill(i, its numbers).
template <class Fill>
Tensor made(LieGroup group, int64_t count, Fill fill) {
  const int64_t m = matrix_size(group);
  Tensor result = at::empty({count, m, m}, at::kDouble);
  auto* row = result.mutable_data_ptr<double>();
  for (int64_t i = 0; i < count; ++i, row += m * m) {
    fill(i, Numbers(row, m * m));
  }
  return result;
}

std::vector<double> compact(LieGroup group) {
  return std::vector<double>(compact_size(group));
}

}  // namespace

Tensor distances_to_group(LieGroup group, const Tensor& elements) {
  const Lie<double> lie(group);
  const TensorRows rows = matrices(group, elements);
  Tensor result = at::empty({rows.count()}, at::kDouble);
  for (int64_t i = 0; i < rows.count(); ++i) {
    result.mutable_data_ptr<double>()[i] = lie.distance(rows[i]);
  }
  return result;
}

Tensor nearest_elements(LieGroup group, const Tensor& elements) {
  const Lie<double> lie(group);
  const TensorRows rows = matrices(group, elements);
  std::vector<double> g = compact(group);
  return made(group, rows.count(), [&](int64_t i, Numbers matrix) {
    try {
      lie.nearest(rows[i], g);
    } catch (const ShapeError& error) {
      throw ShapeError(text("element ", i, ": ", error.what()));
    }
    lie.to_matrix(g, matrix);
  });
}

Tensor random_elements(LieGroup group, int64_t count, double spread, Stream& stream) {
  const Lie<double> lie(group);
  std::vector<double> g = compact(group);
  return made(group, count, [&](int64_t, Numbers matrix) {
    lie.random(stream, g, spread);
    lie.to_matrix(g, matrix);
  });
}

Tensor exponentials(LieGroup group, const Tensor& coordinates) {
  const Lie<double> lie(group);
  const TensorRows rows(coordinates, {degrees_of_freedom(group)}, "coordinates");
  std::vector<double> g = compact(group);
  return made(group, rows.count(), [&](int64_t i, Numbers matrix) {
    lie.exp(rows[i], g);
    lie.to_matrix(g, matrix);
  });
}

Tensor polar_coordinates(LieGroup group, const Tensor& elements) {
  const Lie<double> lie(group);
  const Tensor nearest = nearest_elements(group, elements);
  const TensorRows rows = matrices(group, nearest);
  const int64_t dof = degrees_of_freedom(group);
  std::vector<double> g = compact(group);
  Tensor coordinates = at::empty({rows.count(), dof}, at::kDouble);
  for (int64_t i = 0; i < rows.count(); ++i) {
    lie.from_matrix(rows[i], g);
    lie.polar_log(g, {coordinates.mutable_data_ptr<double>() + i * dof, static_cast<size_t>(dof)});
  }
  return coordinates;
}

double least_chart_margin(LieGroup group, const Tensor& elements) {
  const Lie<double> lie(group);
  const TensorRows rows = matrices(group, elements);
  std::vector<std::vector<double>> tokens;
  for (int64_t i = 0; i < rows.count(); ++i) {
    lie.nearest(rows[i], tokens.emplace_back(compact(group)));
  }
  std::vector<double> relative = compact(group);
  double least = std::numeric_limits<double>::infinity();
  const int64_t n = rows.count(), reach = n <= kAllPairs ? n : 2;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < std::min(n, i + reach); ++j) {
      lie.between(tokens[i], tokens[j], relative);
      least = std::min(least, lie.chart_margin(relative));
    }
  }
  return least;
}

Motions motions_of(LieGroup group, const Tensor& elements) {
  const int64_t n = dimension_of(group), m = matrix_size(group);
  Motions motions{elements.slice(1, 0, n).slice(2, 0, n).contiguous(), {}};
  if (m > n) {
    motions.translation = elements.slice(1, 0, n).select(2, n).contiguous();
  }
  return motions;
}

}  // namespace weyl
