#include "weyl/ops/group_linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>

#include "weyl/core/check.h"

namespace weyl {

Tensor expand_group_kernel(const Tensor& kernel, const GroupTables& tables) {
  const int64_t order = tables.group().order();
  require(kernel.dim() == 3 && kernel.size(0) == order, "expand_group_kernel: kernel must be (", order,
          ", O, I), got ", kernel.sizes());
  const int64_t out = kernel.size(1), in = kernel.size(2);
  return kernel.index_select(0, tables.left_quotients(kernel.device()).flatten())
      .view({order, order, out, in})
      .permute({0, 2, 1, 3})
      .reshape({order * out, order * in});
}

Tensor expand_group_kernels(const std::vector<Tensor>& kernels, const GroupTables& tables) {
  std::vector<Tensor> dense;
  for (const Tensor& kernel : kernels) {
    dense.push_back(expand_group_kernel(kernel, tables));
  }
  return dense.size() == 1 ? dense.front() : at::cat(dense, 0);
}

}  // namespace weyl
