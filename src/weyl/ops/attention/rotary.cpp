#include "weyl/ops/attention/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>

#include "weyl/core/check.h"

namespace weyl {

RotaryTable rotary_table(const Tensor& angles) {
  require(angles.dim() == 3, "rotary_table: angles must be (N, H, F), got ", angles.sizes());
  require(angles.scalar_type() == at::kFloat || angles.scalar_type() == at::kDouble,
          "rotary_table: angles must be float32 or float64, got ", angles.scalar_type());
  return {angles.cos(), angles.sin()};
}

Tensor rotate_pairs(const Tensor& x, const RotaryTable& table, bool inverse) {
  const Tensor& cosine = table.cosine;
  const Tensor sine = inverse ? -table.sine : table.sine;
  if (!x.defined()) {
    return at::stack({cosine - sine, sine + cosine}, -1).flatten(-2);
  }
  require(x.dim() == 3 && x.size(0) == cosine.size(0) && x.size(1) == cosine.size(1) &&
              x.size(2) == 2 * cosine.size(2),
          "rotate_pairs: x must be (N, H, 2F) of the table ", cosine.sizes(), ", got ", x.sizes());
  const Tensor pairs = x.unflatten(-1, {cosine.size(2), 2});
  const Tensor even = pairs.select(-1, 0), odd = pairs.select(-1, 1);
  return at::stack({even * cosine - odd * sine, even * sine + odd * cosine}, -1)
      .flatten(-2)
      .to(x.scalar_type());
}

}  // namespace weyl
