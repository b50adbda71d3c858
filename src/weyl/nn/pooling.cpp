#include "weyl/nn/pooling.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "weyl/ops/segment.h"

namespace weyl {

at::Tensor counts_of(const Segments& segments, const at::Tensor& like) {
  return segments.sizes_on_device().clamp_min(1).to(like.options());
}

at::Tensor spread(const at::Tensor& rows, const Segments& segments) {
  return rows.index_select(0, segments.index);
}

at::Tensor sum_nodes(const at::Tensor& x, const Segments& graphs) {
  return segment_sum(x.to(at::kDouble), graphs);
}

at::Tensor pool_nodes(const at::Tensor& x, const Segments& graphs, Pooling law, double typical_nodes) {
  return law == Pooling::mean ? segment_mean(x, graphs) : segment_sum(x, graphs) / typical_nodes;
}

}  // namespace weyl
