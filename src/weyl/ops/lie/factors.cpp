#include "weyl/ops/lie/factors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "weyl/core/check.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {
namespace {

constexpr double kShortest = 1e-12;  // of a column whose direction is still taken

Tensor unit_vector(int64_t dimension, int64_t axis, const Tensor& like) {
  std::vector<double> e(static_cast<size_t>(dimension));
  e[static_cast<size_t>(axis)] = 1;
  return constant(e, like.scalar_type(), like.device()).expand({like.size(0), dimension});
}

/// v / |v| row by row, (N, D); `instead` where v vanishes.
Tensor direction(const Tensor& v, const Tensor& instead) {
  const Tensor square = v.square().sum(1, /*keepdim=*/true);
  const Tensor vanishes = square < kShortest * kShortest;
  // The root is not taken of zero, whose derivative times zero is no number.
  const Tensor safe = square.masked_fill(vanishes, 1);
  return at::where(vanishes, instead, v * safe.rsqrt());
}

/// The matrices (N, n, n) of rotations from 2 or 6 numbers.
Tensor rotation(const Tensor& numbers, int64_t n) {
  const Tensor first =
      direction(numbers.narrow(1, 0, n) + unit_vector(n, 0, numbers), unit_vector(n, 0, numbers));
  if (n == 2) {
    return at::stack({first, at::stack({-first.select(1, 1), first.select(1, 0)}, 1)}, 2);
  }
  const auto across = [&](const Tensor& v) { return v - (first * v).sum(1, /*keepdim=*/true) * first; };
  // One of two axes is not along `first`.
  const Tensor spare = direction(across(unit_vector(3, 1, numbers)), across(unit_vector(3, 2, numbers)));
  const Tensor second =
      direction(across(numbers.narrow(1, 3, 3) + unit_vector(3, 1, numbers)), spare.detach());
  return at::stack({first, second, at::linalg_cross(first, second, 1)}, 2);
}

int64_t rotation_numbers(int64_t n) {
  return n == 2 ? 2 : 6;
}

}  // namespace

int64_t factor_numbers(LieGroup group) {
  const int64_t n = dimension_of(group), translation = matrix_size(group) > n ? n : 0;
  const int64_t stretch = is_rigid(group) ? 0 : n * (n + 1) / 2;
  return translation + rotation_numbers(n) + stretch;
}

Tensor factors(const Tensor& numbers, LieGroup group) {
  const int64_t n = dimension_of(group), m = matrix_size(group), rows = numbers.size(0);
  require(numbers.dim() == 2 && numbers.size(1) == factor_numbers(group),
          "lie_factors: the numbers of elements of ", name_of(group), " must be (N, ", factor_numbers(group),
          "), got ", numbers.sizes());
  const int64_t translation = m > n ? n : 0;
  Tensor linear = rotation(numbers.narrow(1, translation, rotation_numbers(n)), n);
  if (!is_rigid(group)) {
    const int64_t read = translation + rotation_numbers(n), stretch = numbers.size(1) - read;
    const Tensor none = at::zeros({rows, degrees_of_freedom(group) - stretch}, numbers.options());
    const Tensor s = at::cat({none, numbers.narrow(1, read, stretch)}, 1);
    linear = at::matmul(
        linear,
        element_matrices(exp(from_orthonormal(s, group), group), group).slice(1, 0, n).slice(2, 0, n));
  }
  if (m == n) {
    return compact_elements(linear, group);
  }
  const Tensor upper = at::cat({linear, numbers.narrow(1, 0, n).unsqueeze(2)}, 2);
  return compact_elements(at::cat({upper, unit_vector(m, n, numbers).unsqueeze(1)}, 1), group);
}

}  // namespace weyl::lie
