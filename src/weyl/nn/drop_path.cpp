#include "weyl/nn/drop_path.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/full.h>

#include "weyl/core/segments.h"

namespace weyl {

at::Tensor drop_path_factors(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by) {
  if (rate <= 0) {
    return {};
  }
  const double keep = 1 - rate;
  const int64_t draws = by == DropPathBy::graph ? graphs.count() : x.size(0);
  const at::Tensor kept = at::bernoulli(at::full({draws}, keep, x.options())) / keep;
  return by == DropPathBy::graph ? kept.index_select(0, graphs.index) : kept;
}

at::Tensor drop_path(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by) {
  const at::Tensor factors = drop_path_factors(x, graphs, rate, by);
  if (!factors.defined()) {
    return x;
  }
  std::vector<int64_t> shape(x.dim(), 1);
  shape[0] = x.size(0);
  return x * factors.view(shape);
}

}  // namespace weyl
