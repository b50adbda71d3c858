#include "weyl/carriers/conformers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include "weyl/core/check.h"
#include "weyl/core/to_device.h"

namespace weyl {

Tensor count_conformers(const Tensor& conformers, const Segments& graphs) {
  require(conformers.dim() == 3 && conformers.size(0) == graphs.rows() && conformers.size(1) > 0,
          "conformers: must be (N, C, D) of ", graphs.rows(), " nodes, got ", conformers.sizes());
  const Tensor differ = conformers.ne(conformers.slice(1, 0, 1)).any(2).to(at::kLong);  // (N, C)
  Tensor another = at::zeros({graphs.count(), conformers.size(1)}, differ.options());
  another = another.index_add(0, to_device(graphs.index, differ.device()), differ).gt(0).to(at::kLong);
  another.select(1, 0).fill_(1);
  return another.cumprod(1).sum(1);
}

}  // namespace weyl
