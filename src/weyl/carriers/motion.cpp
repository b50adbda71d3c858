#include "weyl/carriers/motion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "weyl/algebra/finite/point_groups.h"
#include "weyl/carriers/lattice.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

/// A uniform rotation, row-major: in 1-D the identity, in 2-D from one uniform angle, in 3-D from a
/// normalised Gaussian quaternion (a, b, c, d).
void draw_rotation(int64_t dimension, Stream& stream, double* r) {
  if (dimension == 1) {
    *r = 1;
    return;
  }
  if (dimension == 2) {
    const double angle = 2 * M_PI * stream.uniform();
    const double c = std::cos(angle), s = std::sin(angle);
    const double rows[] = {c, -s, s, c};
    std::copy_n(rows, 4, r);
    return;
  }
  double q[4], norm = 0;
  do {
    norm = 0;
    for (double& x : q) {
      x = stream.normal();
      norm += x * x;
    }
  } while (norm < 1e-12);
  norm = std::sqrt(norm);
  const double a = q[0] / norm, b = q[1] / norm, c = q[2] / norm, d = q[3] / norm;
  const double rows[] = {1 - 2 * (c * c + d * d), 2 * (b * c - a * d),     2 * (b * d + a * c),
                         2 * (b * c + a * d),     1 - 2 * (b * b + d * d), 2 * (c * d - a * b),
                         2 * (b * d - a * c),     2 * (c * d + a * b),     1 - 2 * (b * b + c * c)};
  std::copy_n(rows, 9, r);
}

}  // namespace

void draw_orthogonal(int64_t dimension, bool reflections, Stream& stream, double* r) {
  draw_rotation(dimension, stream, r);
  if (reflections && (stream.bits() & 1) != 0) {
    for (int64_t i = 0; i < dimension; ++i) {  // R diag(1, .., -1): uniform on the other half of O(D)
      r[i * dimension + dimension - 1] *= -1;
    }
  }
}

Motions random_rotations(int64_t count, int64_t dimension, bool reflections, Stream& stream) {
  require(dimension >= 1 && dimension <= 3, "random rotations: dimension must be 1, 2 or 3, got ", dimension);
  Tensor linear = at::empty({count, dimension, dimension}, at::kDouble);
  double* r = linear.mutable_data_ptr<double>();
  for (int64_t b = 0; b < count; ++b) {
    draw_orthogonal(dimension, reflections, stream, r + b * dimension * dimension);
  }
  return {linear, {}};
}

RowMotions::RowMotions(const Motions& motions, const Input& like) : like_(like) {
  const int64_t b = rows_of(like, Level::graph), d = dimension_of(like);
  require(motions.linear.defined() && motions.linear.dim() == 3 && motions.linear.size(0) == b &&
              motions.linear.size(1) == d && motions.linear.size(2) == d,
          "motions: linear must be (", b, ", ", d, ", ", d, "), one matrix per graph");
  const auto device = graph_of_rows(like, Level::graph).device();
  linear_ = motions.linear.to(device, at::kDouble);
  if (motions.translation.defined()) {
    require(motions.translation.dim() == 2 && motions.translation.size(0) == b &&
                motions.translation.size(1) == d,
            "motions: translation must be (", b, ", ", d, ")");
    translation_ = motions.translation.to(device, at::kDouble);
  }
}

Tensor RowMotions::per_row(const Tensor& per_graph, Level level) const {
  return level == Level::graph ? per_graph : at::index_select(per_graph, 0, graph_of_rows(like_, level));
}

const Tensor& RowMotions::determinant() const {
  if (!determinant_.defined()) {
    determinant_ = at::linalg_det(linear_);
  }
  return determinant_;
}

const Tensor& RowMotions::inverse_transpose() const {
  if (!inverse_transpose_.defined()) {
    inverse_transpose_ = at::linalg_inv(linear_).transpose(1, 2);
  }
  return inverse_transpose_;
}

Tensor RowMotions::vectors(const Tensor& v, const Tensor& matrix, Level level) const {
  return at::matmul(v.to(at::kDouble), per_row(matrix, level).transpose(1, 2)).to(v.scalar_type());
}

Tensor RowMotions::pseudoscalars(const Tensor& s, Level level) const {
  return (s.to(at::kDouble) * per_row(determinant(), level).unsqueeze(1)).to(s.scalar_type());
}

Tensor RowMotions::multivectors(const Tensor& x, Level level) const {
  if (!multivectors_) {
    multivectors_.emplace(linear_, translation_);
  }
  return multivectors_->moved(x, level == Level::graph ? Tensor() : graph_of_rows(like_, level));
}

Tensor RowMotions::points(const Tensor& p, Level level) const {  // (L, c, D)
  Tensor moved = at::matmul(p.to(at::kDouble), per_row(linear_, level).transpose(1, 2));
  if (translation_.defined()) {
    moved = moved + per_row(translation_, level).unsqueeze(1);
  }
  return moved.to(p.scalar_type());
}

Tensor RowMotions::elements(const Tensor& g, Level level) const {
  const auto* poses = std::get_if<Poses>(&like_);
  require(poses != nullptr, "motions: elements of a Lie group need an input of poses");
  const int64_t n = dimension_of(poses->group), m = matrix_size(poses->group);
  const bool affine = poses->group == LieGroup::aff2 || poses->group == LieGroup::aff3;
  require(m > n || !translation_.defined(), "motions: SO(n) has no translations");
  if (!affine) {
    const Tensor off = at::matmul(linear_, linear_.transpose(1, 2)) - at::eye(n, linear_.options());
    require(
        off.numel() == 0 || (off.abs().max().item<double>() < 1e-6 && determinant().min().item<double>() > 0),
        "motions: poses of SO(n) and SE(n) move by rotations and translations alone");
  }
  Tensor motion = linear_;
  if (m > n) {  // homogeneous: [L t; 0 1]
    motion = at::zeros({linear_.size(0), m, m}, linear_.options());
    motion.slice(1, 0, n).slice(2, 0, n).copy_(linear_);
    if (translation_.defined()) {
      motion.slice(1, 0, n).select(2, n).copy_(translation_);
    }
    motion.select(1, n).select(1, n).fill_(1);
  }
  return at::matmul(per_row(motion, level), g.to(at::kDouble)).to(g.scalar_type());
}

Tensor RowMotions::moved(const Tensor& x, const Quantity& q) const {
  switch (q.kind) {
    case Kind::scalar:
    case Kind::category:
      return x;
    case Kind::pseudoscalar:
      return pseudoscalars(x, q.level);
    case Kind::vector:
      if (q.role == Role::point) {
        return points(x, q.level);
      }
      return vectors(x, q.role == Role::normal ? inverse_transpose() : linear_, q.level);
    case Kind::axial_vector:
      if (linear_.size(1) == 2) {  // one number, the area spanned by two vectors
        return pseudoscalars(x, q.level);
      }
      return vectors(x, determinant().view({-1, 1, 1}) * inverse_transpose(), q.level);
    case Kind::symmetric_tensor: {
      const Tensor r = per_row(linear_, q.level).unsqueeze(1);
      return at::matmul(at::matmul(r, x.to(at::kDouble)), r.transpose(2, 3)).to(x.scalar_type());
    }
    case Kind::multivector:
      return multivectors(x, q.level);
    case Kind::element:
      break;
  }
  return elements(x, q.level);
}

Tensor RowMotions::moved_columns(const Tensor& x, std::span<const Columns> columns, Level level) const {
  const bool moves = std::any_of(columns.begin(), columns.end(),
                                 [](const Columns& c) { return c.quantity->kind != Kind::scalar; });
  if (!x.defined() || !moves) {
    return x;
  }
  std::vector<Tensor> parts;
  for (const auto& c : columns) {
    Quantity q = *c.quantity;
    q.level = level;
    parts.push_back(moved(x.slice(1, c.begin, c.end), q));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
}

Named transform(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                const Input& like) {
  if (std::holds_alternative<Grid>(like)) {
    return moved_on_grid(values, quantities, motions, std::get<Grid>(like));
  }
  const RowMotions move(motions, like);
  Named result;
  for (const auto& [name, tensor] : values) {
    const Quantity* q = find_quantity(quantities, name);
    require(q != nullptr, "transform: no quantity is named '", name, "'");
    result.emplace(name, move.moved(tensor, *q));
  }
  return result;
}

namespace {

Tensor moved_tensor(const PointsTensor& of, const Tensor& tensor, const RowMotions& move,
                    const Interface& interface) {
  using Holds = PointsTensor::Holds;
  switch (of.holds) {
    case Holds::positions:
      return move.points(tensor.unsqueeze(1), of.level).squeeze(1);
    case Holds::types:
    case Holds::pbc:
      return tensor;
    case Holds::scalars:
    case Holds::pairs:
      return move.moved_columns(tensor, scalar_columns(interface, of.level), of.level);
    case Holds::vectors:
      return move.moved_columns(tensor, vector_columns(interface, of.level), of.level);
    case Holds::multivectors:
      return move.moved_columns(tensor, multivector_columns(interface, of.level), of.level);
    case Holds::cell:  // rows are lattice vectors: they turn, and do not shift
      return move.moved(tensor, {"cell", Level::graph, Kind::vector, tensor.size(1)});
    case Holds::input:
      break;
  }
  const Quantity* q = find_quantity(interface.features, of.name);
  require(q != nullptr, "transform: no quantity is named '", of.name, "'");
  return move.moved(tensor, *q);
}

}  // namespace

Batch transform(const Batch& batch, const Motions& motions, const Schema& schema) {
  Batch result = batch;
  result.labels = transform(batch.labels, schema.labels, motions, batch.input);
  if (auto* grid = std::get_if<Grid>(&result.input)) {
    *grid = moved_grid(*grid, motions, schema.interface);
    return result;
  }
  const RowMotions move(motions, batch.input);
  if (auto* poses = std::get_if<Poses>(&result.input)) {
    poses->elements = move.elements(poses->elements, Level::node);
    poses->scalars =
        move.moved_columns(poses->scalars, scalar_columns(schema.interface, Level::node), Level::node);
    return result;
  }
  each_tensor(std::get<Points>(result.input), [&](const PointsTensor& of, Tensor& tensor) {
    if (tensor.defined()) {
      tensor = moved_tensor(of, tensor, move, schema.interface);
    }
  });
  return result;
}

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
