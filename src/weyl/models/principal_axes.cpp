#include "weyl/models/principal_axes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_eigh.h>

#include <algorithm>

#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl {

PrincipalAxes principal_axes(const Points& points) {
  const int64_t D = points.dimension();
  const Tensor positions = points.positions.to(at::kDouble);
  const Tensor centroids = segment_mean(positions, points.graphs);
  const Tensor offsets = positions - spread(centroids, points.graphs);
  const Tensor products = (offsets.unsqueeze(2) * offsets.unsqueeze(1)).flatten(1);  // (N, D D)
  auto [spreads, axes] = at::linalg_eigh(segment_sum(products, points.graphs).view({-1, D, D}));
  return {centroids, axes, spreads};
}

Tensor least_gaps(const Tensor& spreads, bool null_space) {
  constexpr double zero = 1e-12;  // of the largest: squares of offsets, rounded
  const Tensor values = spreads.detach().to(at::kCPU, at::kDouble).contiguous();
  const int64_t D = values.size(1);
  Tensor gaps = at::empty({values.size(0)}, at::kDouble);
  const double* of_graph = values.const_data_ptr<double>();
  double* gap = gaps.mutable_data_ptr<double>();
  for (int64_t b = 0; b < values.size(0); ++b, of_graph += D) {
    const double largest = of_graph[D - 1];
    gap[b] = 1;
    for (int64_t k = 1; k < D; ++k) {
      const bool nothing_there = of_graph[k] <= zero * largest;
      if (!nothing_there || null_space) {
        gap[b] = std::min(gap[b], largest > 0 ? (of_graph[k] - of_graph[k - 1]) / largest : 0);
      }
    }
  }
  return gaps;
}

}  // namespace weyl
