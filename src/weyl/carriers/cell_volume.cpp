#include "weyl/carriers/cell_volume.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/zeros.h>

namespace weyl {

Tensor cell_volumes(const Points& points) {
  if (!points.cell.defined()) {
    return at::zeros({points.count()}, points.positions.options().dtype(at::kDouble));
  }
  const Tensor volume = at::linalg_det(points.cell.to(at::kDouble)).abs();
  return points.pbc.defined() ? volume * points.pbc.all(1).to(at::kDouble) : volume;
}

}  // namespace weyl
