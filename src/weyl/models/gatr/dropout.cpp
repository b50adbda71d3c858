#include "weyl/models/gatr/dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/ones.h>

#include <iterator>
#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/ops/constants.h"

namespace weyl::gatr {

Streams drop_grades(const Streams& x, double rate) {
  if (rate == 0) {
    return x;
  }
  const Tensor& mv = x.multivectors;
  const auto options = mv.options().requires_grad(false);
  const Tensor kept = at::dropout(at::ones({5, mv.size(1), mv.size(2)}, options), rate, /*train=*/true);
  std::vector<int64_t> grades(std::begin(clifford::grade_of), std::end(clifford::grade_of));
  const Tensor grade_of = constant(grades, mv.device());
  return {mv * kept.index_select(0, grade_of),
          x.scalars.defined() ? at::dropout(x.scalars, rate, /*train=*/true) : Tensor()};
}

}  // namespace weyl::gatr
