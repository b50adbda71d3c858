#include "weyl/carriers/multivector_motion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/algebra/clifford/motion_matrix.h"
#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

/// L^-T of a row-major matrix by its cofactors: exact for what exchanges axes or changes their signs.
std::array<double, 9> inverse_transpose(const double* m) {
  const CellRows rows = rows_of(m), of_rows = cofactors(rows);
  const double determinant = dot(rows[0], of_rows[0]);
  std::array<double, 9> result;
  for (size_t i = 0; i < 9; ++i) {
    result[i] = of_rows[i / 3][i % 3] / determinant;
  }
  return result;
}

}  // namespace

MultivectorMotions::MultivectorMotions(const Tensor& linear, const Tensor& translation) {
  const int64_t B = linear.dim() == 3 ? linear.size(0) : 0;
  require(linear.dim() == 3 && linear.size(1) == 3 && linear.size(2) == 3,
          "multivectors: motions must be (B, 3, 3) matrices, got ", linear.sizes());
  require(!translation.defined() ||
              (translation.dim() == 2 && translation.size(0) == B && translation.size(1) == 3),
          "multivectors: translations must be (", B, ", 3)");
  const Tensor L = linear.to(at::kCPU, at::kDouble).contiguous();
  const Tensor t = translation.defined() ? translation.to(at::kCPU, at::kDouble).contiguous() : Tensor();
  Tensor matrices = at::empty({B, clifford::components, clifford::components}, at::kDouble);
  double* to = matrices.mutable_data_ptr<double>();
  for (int64_t b = 0; b < B; ++b) {
    std::array<double, 3> shift{};
    if (t.defined()) {
      std::copy_n(t.const_data_ptr<double>() + 3 * b, 3, shift.begin());
    }
    const auto planes = inverse_transpose(L.const_data_ptr<double>() + 9 * b);
    to = std::ranges::copy(clifford::affine_matrix(planes, shift), to).out;
  }
  for (int grade = 1; grade < clifford::grades; ++grade) {
    const int64_t begin = clifford::grade_begin[grade], size = clifford::grade_begin[grade + 1] - begin;
    blocks_[grade - 1] =
        matrices.narrow(1, begin, size).narrow(2, begin, size).contiguous().to(linear.device());
  }
}

Tensor MultivectorMotions::moved(const Tensor& x, const Tensor& of_rows) const {
  const Tensor wide = x.to(at::kDouble);
  std::vector<Tensor> parts{wide.narrow(2, 0, 1)};  // scalars stay
  for (int grade = 1; grade < clifford::grades; ++grade) {
    const Tensor& block = blocks_[grade - 1];
    const Tensor own = of_rows.defined() ? at::index_select(block, 0, of_rows) : block;
    const int64_t begin = clifford::grade_begin[grade], size = clifford::grade_begin[grade + 1] - begin;
    parts.push_back(at::matmul(wide.narrow(2, begin, size), own.transpose(1, 2)));
  }
  return at::cat(parts, 2).to(x.scalar_type());
}

Tensor weighted_places(const Tensor& x, int64_t axis) {
  using enum clifford::Blade;
  return at::stack({-x.select(axis, e023), x.select(axis, e013), -x.select(axis, e012)}, -1);
}

Tensor translated_multivectors(const Tensor& x, const Tensor& by) {
  using enum clifford::Blade;
  // Out of place: the products keep their factors where a derivative by `by`, a centroid say, is asked for.
  std::vector<Tensor> c = x.to(at::kDouble).unbind(2);  // of (L, c)
  const auto t = [&](int64_t i) { return by.narrow(1, i, 1).to(at::kDouble); };
  // e_i moves to e_i - t_i e0, and further blades as the outer products of these.
  c[e0] = c[e0] - (t(0) * c[e1] + t(1) * c[e2] + t(2) * c[e3]);
  c[e01] = c[e01] + (t(1) * c[e12] + t(2) * c[e13]);
  c[e02] = c[e02] + (t(2) * c[e23] - t(0) * c[e12]);
  c[e03] = c[e03] - (t(0) * c[e13] + t(1) * c[e23]);
  c[e012] = c[e012] - t(2) * c[e123];
  c[e013] = c[e013] + t(1) * c[e123];
  c[e023] = c[e023] - t(0) * c[e123];
  return at::stack(c, 2);
}

}  // namespace weyl
