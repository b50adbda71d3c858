#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/motion.h"
#include "weyl/carriers/points_tensors.h"
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

}  // namespace weyl
