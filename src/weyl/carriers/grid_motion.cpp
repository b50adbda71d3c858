#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>

#include "weyl/algebra/finite/planar.h"
#include "weyl/algebra/finite/platonic.h"
#include "weyl/carriers/lattice.h"
#include "weyl/carriers/motion.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

/// Axis j of the old grid becomes axis to[j], reversed where sign[j] < 0.
struct SignedPermutation {
  std::vector<int64_t> to, sign;

  bool operator==(const SignedPermutation&) const = default;
  double determinant() const {
    double result = 1;
    for (size_t j = 0; j < to.size(); ++j) {
      result *= static_cast<double>(sign[j]);
      for (size_t k = 0; k < j; ++k) {
        result *= to[k] > to[j] ? -1 : 1;
      }
    }
    return result;
  }
};

SignedPermutation signed_permutation(const double* a, int64_t d) {
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
    if (p.sign[j] < 0) {
      flips.push_back(lead + p.to[j]);
    }
  }
  const Tensor permuted = x.permute(order);
  return (flips.empty() ? permuted : at::flip(permuted, flips)).contiguous();
}

/// The grids of a batch that move alike.
struct Alike {
  SignedPermutation move;
  Tensor linear;              // (D, D) float64
  std::vector<int64_t> rows;  // of the batch
};

std::vector<Alike> alike(const Motions& motions, const Grid& grid) {
  const int64_t b = grid.count(), d = grid.values.dim() - 2;
  require(motions.linear.defined() && motions.linear.dim() == 3 && motions.linear.size(0) == b &&
              motions.linear.size(1) == d && motions.linear.size(2) == d,
          "motions: linear must be (", b, ", ", d, ", ", d, "), one matrix per grid");
  require(!motions.translation.defined() || motions.translation.eq(0).all().item<bool>(),
          "grid: does not move by translations");
  const Tensor linear = motions.linear.to(at::kCPU, at::kDouble).contiguous();
  std::vector<Alike> result;
  for (int64_t i = 0; i < b; ++i) {
    SignedPermutation move = signed_permutation(linear.const_data_ptr<double>() + i * d * d, d);
    const auto found =
        std::find_if(result.begin(), result.end(), [&](const Alike& a) { return a.move == move; });
    if (found != result.end()) {
      found->rows.push_back(i);
    } else {
      result.push_back({std::move(move), linear[i], {i}});
    }
  }
  for (const Alike& part : result) {
    for (int64_t j = 0; j < d && result.size() > 1; ++j) {
      const int64_t to = part.move.to[j];
      require(grid.values.size(2 + j) == grid.values.size(2 + to), "grid: axes of ", grid.values.size(2 + j),
              " and ", grid.values.size(2 + to), " cells cannot be exchanged in a part of a batch");
      require(same_spacing(grid.spacing[j], grid.spacing[to]), "grid: axes of spacing ", grid.spacing[j],
              " and ", grid.spacing[to], " cannot be exchanged in a part of a batch");
    }
  }
  return result;
}

/// The channels of one quantity (b, c * components, spatial) moved as vectors, tensors or numbers.
Tensor moved_channels(const Tensor& x, const Quantity& q, const Alike& part) {
  const int64_t d = part.linear.size(0), n = components(q.kind, d);
  require(q.kind != Kind::multivector, "grid: '", q.name, "' must not be a multivector: those are of points");
  const bool pseudo = q.kind == Kind::pseudoscalar || q.kind == Kind::axial_vector;
  const double sign = pseudo ? part.move.determinant() : 1;
  if (n == 1) {
    return q.kind == Kind::scalar || q.kind == Kind::category ? x : x * sign;
  }
  const auto shape = x.sizes().vec();
  const Tensor linear = part.linear.to(x.device());
  Tensor rows = x.reshape({x.size(0) * q.channels, n, -1}).to(at::kDouble);
  if (q.kind == Kind::symmetric_tensor) {
    rows = rows.view({x.size(0) * q.channels, d, d, -1}).permute({0, 3, 1, 2});
    rows = at::matmul(at::matmul(linear, rows), linear.t()).permute({0, 2, 3, 1});
  } else {
    rows = at::matmul(linear * sign, rows);
  }
  return rows.reshape(shape).to(x.scalar_type());
}

/// f(rows of x that move alike, how), put back into their places.
template <class F>
Tensor moved_rows(const Tensor& x, const std::vector<Alike>& parts, F f) {
  if (parts.size() == 1) {
    return f(x, parts[0]);
  }
  Tensor result = at::empty_like(x);
  for (const Alike& part : parts) {
    const Tensor rows = at::tensor(part.rows, at::kLong).to(x.device());
    result.index_copy_(0, rows, f(at::index_select(x, 0, rows), part));
  }
  return result;
}

}  // namespace

Grid moved_grid(const Grid& grid, const Motions& motions, const Interface& interface) {
  const auto parts = alike(motions, grid);
  Grid moved = grid;
  moved.values = moved_rows(grid.values, parts, [&](const Tensor& rows, const Alike& part) {
    const Tensor values = moved_axes(rows, part.move);
    std::vector<Tensor> channels;
    int64_t begin = 0;
    for (const auto& q : interface.features) {
      const int64_t size = q.channels * components(q.kind, interface.dimension);
      channels.push_back(moved_channels(values.slice(1, begin, begin + size), q, part));
      begin += size;
    }
    return channels.empty() ? values : channels.size() == 1 ? channels[0] : at::cat(channels, 1);
  });
  for (size_t j = 0; parts.size() == 1 && j < parts[0].move.to.size(); ++j) {
    moved.spacing[static_cast<size_t>(parts[0].move.to[j])] = grid.spacing[j];
  }
  return moved;
}

Named moved_on_grid(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                    const Grid& like) {
  const auto parts = alike(motions, like);
  const Input input = like;
  const RowMotions of_graphs(motions, input);
  Named result;
  for (const auto& [name, tensor] : values) {
    const Quantity* q = find_quantity(quantities, name);
    require(q != nullptr, "transform: no quantity is named '", name, "'");
    if (q->level == Level::graph) {
      result.emplace(name, of_graphs.moved(tensor, *q));
      continue;
    }
    result.emplace(name, moved_rows(tensor, parts, [&](const Tensor& rows, const Alike& part) {
                     return moved_channels(moved_axes(rows, part.move), *q, part);
                   }));
  }
  return result;
}

namespace {

const FiniteGroup& turns_of(int64_t dimension, bool reflections) {
  static const FiniteGroup square = cyclic(4), whole_square = dihedral(4), cube = octahedron(),
                           whole_cube = octahedron_full();
  if (dimension == 2) {
    return reflections ? whole_square : square;
  }
  return reflections ? whole_cube : cube;
}

}  // namespace

void draw_quarter_turns(const Grid& like, bool reflections, Stream& stream, double* r) {
  const int64_t d = like.values.dim() - 2;
  require(d == 2 || d == 3, "quarter turns: a grid must have 2 or 3 axes, got ", d);
  const FiniteGroup& group = turns_of(d, reflections);
  std::vector<int64_t> keep;
  for (int64_t g = 0; g < group.order(); ++g) {
    const auto to = signed_permutation(group.element(g).data(), d).to;
    bool same = true;
    for (int64_t j = 0; j < d; ++j) {
      same = same && like.values.size(2 + j) == like.values.size(2 + to[j]) &&
             same_spacing(like.spacing[j], like.spacing[to[j]]);
    }
    if (same) {
      keep.push_back(g);
    }
  }
  const auto element = group.element(keep[stream.below(static_cast<int64_t>(keep.size()))]);
  std::copy(element.begin(), element.end(), r);
}

}  // namespace weyl
