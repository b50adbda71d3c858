#include "weyl/tasks/error_law.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace weyl {
namespace {

Tensor cost(ErrorLaw law, double delta, const Tensor& x) {
  switch (law) {
    case ErrorLaw::l1:
      return at::abs(x);
    case ErrorLaw::l2:
      return x * x;
    case ErrorLaw::huber:
      break;
  }
  const Tensor size = at::abs(x);
  return at::where(size <= delta, 0.5 * x * x, delta * (size - 0.5 * delta));
}

}  // namespace

Tensor mean_error(ErrorLaw law, double huber_delta, const Tensor& x, const Tensor& known) {
  if (!known.defined()) {
    return cost(law, huber_delta, x).sum() / static_cast<double>(std::max<int64_t>(x.numel(), 1));
  }
  // Unknown errors are NaN: zero before the law, whose derivative would carry them on.
  const Tensor all = known.expand_as(x);
  return cost(law, huber_delta, x.masked_fill(all.logical_not(), 0)).sum() /
         all.sum().clamp_min(1).to(x.scalar_type());
}

Tensor mean_length(const Tensor& x, const Tensor& known) {
  const Tensor rows = known.expand_as(x).all(1);
  const Tensor lengths = at::linalg_vector_norm(x.masked_fill(rows.logical_not().unsqueeze(1), 0), 2, {1});
  return lengths.sum() / rows.sum().clamp_min(1).to(x.scalar_type());
}

}  // namespace weyl
