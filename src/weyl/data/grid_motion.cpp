#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>

#include "weyl/core/check.h"
#include "weyl/data/motion.h"

namespace weyl {
namespace {

/// Axis j of the old grid becomes axis to[j], reversed where sign[j] < 0.
struct SignedPermutation {
  std::vector<int64_t> to, sign;
};

SignedPermutation signed_permutation(const Tensor& matrix) {
  const int64_t d = matrix.size(0);
  const Tensor m = matrix.to(at::kCPU, at::kDouble).contiguous();
  const double* a = m.const_data_ptr<double>();
  SignedPermutation result{std::vector<int64_t>(d, -1), std::vector<int64_t>(d, 0)};
  std::vector<bool> used(d, false);
  for (int64_t j = 0; j < d; ++j) {
    for (int64_t i = 0; i < d; ++i) {
      const double x = a[i * d + j];
      if (std::abs(std::abs(x) - 1) < 1e-9 && !used[i] && result.to[j] < 0) {
        result.to[j] = i;
        result.sign[j] = x > 0 ? 1 : -1;
        used[i] = true;
      } else {
        require(std::abs(x) < 1e-9,
                "grid: moves by quarter turns and reflections of its axes alone, other motions would "
                "interpolate");
      }
    }
    require(result.to[j] >= 0, "grid: moves by quarter turns and reflections of its axes alone");
  }
  return result;
}

/// Moves the last D axes of x: value'(p) = value(L^-1 p) about the centre.
Tensor moved_axes(const Tensor& x, const SignedPermutation& p) {
  const int64_t d = static_cast<int64_t>(p.to.size()), lead = x.dim() - d;
  std::vector<int64_t> order(x.dim()), flips;
  for (int64_t k = 0; k < lead; ++k) {
    order[k] = k;
  }
  for (int64_t j = 0; j < d; ++j) {
    order[lead + p.to[j]] = lead + j;
    require(x.size(lead + j) == x.size(lead + p.to[j]), "grid: axes of ", x.size(lead + j), " and ",
            x.size(lead + p.to[j]), " cells cannot be exchanged");
    if (p.sign[j] < 0) {
      flips.push_back(lead + p.to[j]);
    }
  }
  const Tensor permuted = x.permute(order);
  return (flips.empty() ? permuted : at::flip(permuted, flips)).contiguous();
}

std::vector<SignedPermutation> permutations(const Motions& motions, const Grid& grid) {
  const int64_t b = grid.count(), d = grid.values.dim() - 2;
  require(motions.linear.defined() && motions.linear.dim() == 3 && motions.linear.size(0) == b &&
              motions.linear.size(1) == d && motions.linear.size(2) == d,
          "motions: linear must be (", b, ", ", d, ", ", d, "), one matrix per grid");
  require(!motions.translation.defined() || motions.translation.eq(0).all().item<bool>(),
          "grid: does not move by translations");
  std::vector<SignedPermutation> result;
  for (int64_t i = 0; i < b; ++i) {
    result.push_back(signed_permutation(motions.linear[i]));
    for (int64_t j = 0; j < d; ++j) {
      const double from = grid.spacing[j], to = grid.spacing[result.back().to[j]];
      require(std::abs(from - to) <= 1e-9 * std::abs(from), "grid: axes of spacing ", from, " and ", to,
              " cannot be exchanged");
    }
  }
  return result;
}

/// The channels of one quantity of one grid (c * components, spatial) moved as vectors, tensors or numbers.
Tensor moved_channels(const Tensor& x, const Quantity& q, const Tensor& linear) {
  const int64_t d = linear.size(0), n = components(q.kind, d);
  const double determinant = at::linalg_det(linear).item<double>();
  const double sign = q.kind == Kind::pseudoscalar || q.kind == Kind::axial_vector ? determinant : 1;
  if (n == 1) {
    return q.kind == Kind::scalar || q.kind == Kind::category ? x : x * sign;
  }
  auto shape = x.sizes().vec();
  Tensor rows = x.reshape({q.channels, n, -1}).to(at::kDouble);
  if (q.kind == Kind::symmetric_tensor) {
    rows = rows.view({q.channels, d, d, -1}).permute({0, 3, 1, 2});
    rows = at::matmul(at::matmul(linear, rows), linear.t()).permute({0, 2, 3, 1});
  } else {
    rows = at::matmul(linear * sign, rows);
  }
  return rows.reshape(shape).to(x.scalar_type());
}

}  // namespace

Grid moved_grid(const Grid& grid, const Motions& motions, const Interface& interface) {
  const auto moves = permutations(motions, grid);
  std::vector<Tensor> moved;
  for (int64_t i = 0; i < grid.count(); ++i) {
    const Tensor values = moved_axes(grid.values[i], moves[i]);
    const Tensor linear = motions.linear[i].to(values.device(), at::kDouble);
    std::vector<Tensor> parts;
    int64_t begin = 0;
    for (const auto& q : interface.features) {
      const int64_t size = q.channels * components(q.kind, interface.dimension);
      parts.push_back(moved_channels(values.slice(0, begin, begin + size), q, linear));
      begin += size;
    }
    moved.push_back(parts.empty() ? values : at::cat(parts, 0));
  }
  return {moved.empty() ? grid.values : at::stack(moved), grid.spacing};
}

Named moved_on_grid(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                    const Grid& like) {
  const auto moves = permutations(motions, like);
  const Input input = like;
  const RowMotions of_graphs(motions, input);
  Named result;
  for (const auto& [name, tensor] : values) {
    const auto q =
        std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& x) { return x.name == name; });
    require(q != quantities.end(), "transform: no quantity is named '", name, "'");
    if (q->level == Level::graph) {
      result.emplace(name, of_graphs.moved(tensor, *q));
      continue;
    }
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < like.count(); ++i) {
      const Tensor linear = motions.linear[i].to(tensor.device(), at::kDouble);
      parts.push_back(moved_channels(moved_axes(tensor[i], moves[i]), *q, linear));
    }
    result.emplace(name, parts.empty() ? tensor : at::stack(parts));
  }
  return result;
}

}  // namespace weyl
