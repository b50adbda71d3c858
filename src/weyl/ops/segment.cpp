#include "weyl/ops/segment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/core/check.h"

namespace weyl {
namespace {

void require_rows(const char* where, const Tensor& x, const Segments& segments) {
  require(x.defined() && x.dim() >= 1 && x.size(0) == segments.rows(), where, ": x must have ",
          segments.rows(), " rows, got ", x.defined() ? x.sizes() : at::IntArrayRef{});
}

std::vector<int64_t> with_rows(const Tensor& x, int64_t rows) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape[0] = rows;
  return shape;
}

/// (B) float64: one over the number of rows of each segment, 1 for an empty one.
Tensor reciprocal_sizes(const Segments& segments) {
  std::vector<double> factors;
  for (const int64_t size : segments.sizes()) {
    factors.push_back(1.0 / static_cast<double>(std::max<int64_t>(size, 1)));
  }
  return at::tensor(factors, at::kDouble);
}

}  // namespace

Tensor segment_sum(const Tensor& x, const Segments& segments) {
  require_rows("segment_sum", x, segments);
  return at::zeros(with_rows(x, segments.count()), x.options()).index_add(0, segments.index, x);
}

Tensor segment_mean(const Tensor& x, const Segments& segments) {
  require_rows("segment_mean", x, segments);
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = segments.count();
  const Tensor& factors =
      segments.table("reciprocal sizes", [&] { return std::vector{reciprocal_sizes(segments)}; }).front();
  return segment_sum(x, segments) * factors.view(shape).to(x.scalar_type());
}

Tensor segment_logsumexp(const Tensor& x, const Segments& segments) {
  require_rows("segment_logsumexp", x, segments);
  if (segments.uniform()) {
    std::vector<int64_t> shape = with_rows(x, segments.count());
    shape.insert(shape.begin() + 1, segments.size(0));
    return at::logsumexp(x.reshape(shape), 1);
  }
  const Tensor& lengths = segments.sizes_on_device();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor highest = at::segment_reduce(x.detach(), "max", lengths, {}, {}, 0, /*unsafe=*/true, -infinity);
  highest = highest.masked_fill(highest == -infinity, 0);
  return segment_sum((x - highest.index_select(0, segments.index)).exp(), segments).log() + highest;
}

Tensor segment_softmax(const Tensor& x, const Segments& segments) {
  require_rows("segment_softmax", x, segments);
  // Subtracting a constant of the segment changes nothing, so the largest entry needs no derivative.
  const Tensor& lengths = segments.sizes_on_device();
  const Tensor highest = at::segment_reduce(x.detach(), "max", lengths, {}, {}, 0, /*unsafe=*/true);
  const Tensor weight = (x - highest.index_select(0, segments.index)).exp();
  return weight / segment_sum(weight, segments).index_select(0, segments.index);
}

/// How far the score of a row without weight may lie above the others'; its exponential is some 10^7.
constexpr double kMostAbove = 16;

Tensor segment_softmax(const Tensor& x, const Segments& segments, const Tensor& weights, double epsilon) {
  const char* where = "segment_softmax";
  require_rows(where, x, segments);
  require(weights.defined() && weights.dim() == 1 && weights.size(0) == segments.rows(), where,
          ": weights must be (", segments.rows(), "), got ",
          weights.defined() ? weights.sizes() : at::IntArrayRef{});
  require(epsilon > 0, where, ": epsilon must be positive, got ", epsilon);
  // What is subtracted from the scores cancels: of the scores of rows with a weight and that of the row which is
  // always there, the largest, which needs no derivative.
  const double always = std::log(epsilon);
  const Tensor& lengths = segments.sizes_on_device();
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  const Tensor w = weights.view(shape), counted = x.detach().masked_fill(w.detach() == 0, always);
  const Tensor highest =
      at::segment_reduce(counted, "max", lengths, {}, {}, 0, /*unsafe=*/true, always).clamp_min(always);
  const Tensor above = (x - highest.index_select(0, segments.index)).clamp_max(kMostAbove);
  const Tensor shares = above.exp() * w;
  const Tensor all = segment_sum(shares, segments) + (always - highest).exp();
  return shares / all.index_select(0, segments.index);
}

}  // namespace weyl
