#include "weyl/data/volumes/resample.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>

#include "weyl/carriers/lattice.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Two shares closer than this are equal: it is above the rounding of the sums that made them.
constexpr double kTie = 1e-5;

double weight(double x, Interpolation interpolation) {
  x = std::abs(x);
  if (interpolation == Interpolation::linear) {
    return std::max(0.0, 1 - x);
  }
  constexpr double a = -0.5;
  return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// (cells, from) float32, rows that add up to 1.
Tensor weights(int64_t from, int64_t cells, double step, Interpolation interpolation) {
  Tensor all = at::zeros({cells, from}, at::kFloat);
  auto* row = all.mutable_data_ptr<float>();
  const double width = std::max(1.0, step), reach = interpolation == Interpolation::linear ? 1 : 2;
  for (int64_t k = 0; k < cells; ++k, row += from) {
    const double at = (static_cast<double>(k) - 0.5 * static_cast<double>(cells - 1)) * step +
                      0.5 * static_cast<double>(from - 1);
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(at - reach * width))),
               last = std::min(from - 1, static_cast<int64_t>(std::floor(at + reach * width)));
    double sum = 0;
    for (int64_t i = first; i <= last; ++i) {
      sum += weight((static_cast<double>(i) - at) / width, interpolation);
    }
    for (int64_t i = first; i <= last; ++i) {
      row[i] = static_cast<float>(weight((static_cast<double>(i) - at) / width, interpolation) / sum);
    }
  }
  return all;
}

}  // namespace

GridChange change_of_spacing(const std::array<int64_t, 3>& cells, const std::array<double, 3>& spacing,
                             const std::array<double, 3>& wanted) {
  GridChange change{cells, {1, 1, 1}};
  for (size_t d = 0; d < 3; ++d) {
    if (!same_spacing(spacing[d], wanted[d])) {
      change.step[d] = wanted[d] / spacing[d];
      change.cells[d] =
          std::max<int64_t>(1, std::llround(static_cast<double>(cells[d]) * spacing[d] / wanted[d]));
    }
  }
  return change;
}

Tensor resampled(const Tensor& values, const GridChange& change, Interpolation interpolation) {
  require(values.dim() == 4 && values.scalar_type() == at::kFloat,
          "resampled: values must be (C, X, Y, Z) float32, got ", values.dim(), " axes");
  Tensor now = values;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t from = now.size(1 + static_cast<int64_t>(d));
    if (change.step[d] == 1 && change.cells[d] == from) {
      continue;
    }
    const Tensor by = weights(from, change.cells[d], change.step[d], interpolation);
    // The axis becomes the rows of a matrix; (C ..., from, rest) times from the left.
    std::vector<int64_t> sizes = now.sizes().vec();
    int64_t front = 1, behind = 1;
    for (size_t k = 0; k < 1 + d; ++k) {
      front *= sizes[k];
    }
    for (size_t k = 2 + d; k < 4; ++k) {
      behind *= sizes[k];
    }
    sizes[1 + d] = change.cells[d];
    now = behind == 1 ? at::matmul(now.contiguous().view({front, from}), by.t()).view(sizes)
                      : at::matmul(by, now.contiguous().view({front, from, behind})).view(sizes);
  }
  return now;
}

Tensor resampled_classes(const Tensor& mask, int64_t classes, const GridChange& change) {
  Tensor best, found;
  for (int64_t k = 0; k < classes; ++k) {  // one class at a time: all at once are K volumes
    const Tensor share =
        resampled((mask == k).to(at::kFloat).unsqueeze(0), change, Interpolation::linear).squeeze(0);
    if (k == 0) {
      best = share;
      found = at::zeros(share.sizes(), at::kByte);
      continue;
    }
    const Tensor better = share > best + kTie;
    found.masked_fill_(better, k);
    best = at::where(better, share, best);
  }
  return found;
}

Tensor most_likely(const Tensor& probabilities) {
  Tensor best = probabilities[0], found = at::zeros(best.sizes(), at::kLong);
  for (int64_t k = 1; k < probabilities.size(0); ++k) {
    const Tensor better = probabilities[k] > best + kTie;
    found.masked_fill_(better, k);
    best = at::where(better, probabilities[k], best);
  }
  return found;
}

}  // namespace weyl
