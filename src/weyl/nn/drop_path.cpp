#include "weyl/nn/drop_path.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/full.h>

#include "weyl/core/segments.h"

namespace weyl {

at::Tensor drop_path(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by) {
  if (rate <= 0) {
    return x;
  }
  const double keep = 1 - rate;
  const int64_t draws = by == DropPathBy::graph ? graphs.count() : x.size(0);
  at::Tensor kept = at::bernoulli(at::full({draws}, keep, x.options())) / keep;
  if (by == DropPathBy::graph) {
    kept = kept.index_select(0, graphs.index);
  }
  std::vector<int64_t> shape(x.dim(), 1);
  shape[0] = x.size(0);
  return x * kept.view(shape);
}

}  // namespace weyl
