#include "weyl/ops/vectors/inverse_square_root.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/matmul.h>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// x (...) as a factor of matrices (..., 3, 3).
Tensor of_matrices(const Tensor& x) {
  return x.unsqueeze(-1).unsqueeze(-1);
}

}  // namespace

Tensor inverse_square_root(const Tensor& given) {
  require(given.defined() && given.dim() >= 2 && given.size(-1) == 3 && given.size(-2) == 3,
          "inverse_square_root: c must be (..., 3, 3), got ",
          given.defined() ? given.sizes() : at::IntArrayRef{});
  const Tensor c = given.to(at::kDouble);
  const Tensor square = at::matmul(c, c);
  const Tensor i1 = c.diagonal(0, -2, -1).sum(-1);
  const Tensor i2 = (i1 * i1 - square.diagonal(0, -2, -1).sum(-1)) / 2;
  // The triple product of the rows: an elimination has derivatives that divide by its pivots.
  const Tensor i3 = (c.select(-2, 0) * at::linalg_cross(c.select(-2, 1), c.select(-2, 2))).sum(-1);
  const Tensor root = i3.sqrt();
  Tensor a, b;
  {
    const at::NoGradGuard constant;
    const Tensor s = at::linalg_eigvalsh(c.detach()).sqrt();
    a = s.sum(-1);
    b = (a * a - (s * s).sum(-1)) / 2;
  }
  for (int step = 0; step < 2; ++step) {
    const Tensor f1 = a * a - 2 * b - i1, f2 = b * b - 2 * a * root - i2;
    const Tensor determinant = 2 * (a * b - root);
    const Tensor da = (b * f1 + f2) / determinant, db = (root * f1 + a * f2) / determinant;
    a = a - da;
    b = b - db;
  }
  const Tensor unit = at::eye(3, c.options().requires_grad(false));
  const Tensor s =
      (of_matrices(a * a - b) * c - square + of_matrices(a * root) * unit) / of_matrices(a * b - root);
  return (c - of_matrices(a) * s + of_matrices(b) * unit) / of_matrices(root);
}

}  // namespace weyl
