#include "weyl/tasks/object_motion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_solve_ex.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <tuple>

#include "weyl/core/check.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

constexpr LieGroup kRotations = LieGroup::so3;

Tensor wide(const Tensor& x) {
  return x.to(at::kDouble);
}

/// Rows (L, 1) times columns.
Tensor times(const Tensor& row, const Tensor& vectors) {
  return row.unsqueeze(1) * vectors;
}

/// R - 1 = 2/s (w [b] + b b^T - |b|^2 1) of the quaternion (b, w) with b.b + w w = s.
Tensor change_of(const Tensor& b, const Tensor& w, const Tensor& s) {
  const Tensor zero = w * 0, x = b.select(1, 0), y = b.select(1, 1), z = b.select(1, 2);
  const Tensor hat = at::stack({zero, -z, y, z, zero, -x, -y, x, zero}, 1).view({-1, 3, 3});
  const Tensor square = (b * b).sum(1).view({-1, 1, 1});
  const Tensor outer = b.unsqueeze(2) * b.unsqueeze(1) - square * at::eye(3, b.options());
  return (2 / s).view({-1, 1, 1}) * (w.view({-1, 1, 1}) * hat + outer);
}

Tensor identity_like(const Tensor& quaternions) {
  return constant(at::ArrayRef<double>({0, 0, 0, 1}), quaternions.scalar_type(), quaternions.device())
      .expand_as(quaternions);
}

Tensor change_of(const Tensor& rotation) {
  return change_of(rotation.slice(1, 0, 3), rotation.select(1, 3), (rotation * rotation).sum(1));
}

void require_rows(const char* name, const Tensor& x, at::IntArrayRef shape) {
  require(x.sizes() == shape, "rigid motion: ", name, " must be ", shape, ", got ", x.sizes());
}

}  // namespace

ObjectMotions motions_of_motors(const Tensor& w, const Tensor& p, const Tensor& ideal,
                                const Tensor& bivector) {
  const int64_t rows = w.numel();
  require_rows("the scalar", w, {rows});
  require_rows("the pseudoscalar", p, {rows});
  require_rows("the ideal part", ideal, {rows, 3});
  require_rows("the bivector", bivector, {rows, 3});
  const Tensor s0 = wide(w), a = wide(bivector), i = wide(ideal);
  const Tensor square = s0 * s0 + (a * a).sum(1);
  const Tensor s = square.clamp_min(least_motor_square);
  const Tensor q = at::cat({-a, s0.unsqueeze(1)}, 1) / s.sqrt().unsqueeze(1);
  const Tensor shift = times(-2 / s, times(s0, i) + times(wide(p), a) + at::linalg_cross(i, a, 1));
  const Tensor vanishes = square.lt(least_motor_square).unsqueeze(1);
  return {at::where(vanishes, identity_like(q), q), change_of(-a, s0, s), shift};
}

ObjectMotions motions_of_turns(const Tensor& turn, const Tensor& displacement) {
  const int64_t rows = turn.size(0);
  require_rows("turns", turn, {rows, 3});
  require_rows("displacements", displacement, {rows, 3});
  const Tensor rotation = lie::exp(wide(turn), kRotations);
  return {rotation, change_of(rotation), wide(displacement)};
}

ObjectMotions motions_of_velocities(const Points& points, const Tensor& velocities) {
  require_rows("velocities", velocities, {points.nodes(), 3});
  const Segments& objects = points.objects;
  const Tensor shift = segment_mean(wide(velocities), objects);
  const Tensor v = wide(velocities) - spread(shift, objects);
  const Tensor u = wide(points.positions) - spread(centres_of_objects(points), objects) - v / 2;
  const Tensor squares = segment_sum((u * u).sum(1), objects).view({-1, 1, 1});
  const Tensor one = at::eye(3, u.options());
  // Singular where all nodes lie on one line; the rest is 1e-12 of what the others have.
  const Tensor inertia =
      squares * (1 + 1e-12) * one + 1e-300 * one - segment_sum(u.unsqueeze(2) * u.unsqueeze(1), objects);
  const Tensor lever = segment_sum(at::linalg_cross(u, v, 1), objects);
  // Whether it could be solved is asked where nothing waits for the answer.
  const Tensor solved = std::get<0>(
      at::linalg_solve_ex(inertia, lever.unsqueeze(2), /*left=*/true, /*check_errors=*/inertia.is_cpu()));
  const Tensor tau = solved.squeeze(2) / 2;
  const Tensor w = at::ones_like(tau.select(1, 0)), s = 1 + (tau * tau).sum(1);
  return {at::cat({tau, w.unsqueeze(1)}, 1) / s.sqrt().unsqueeze(1), change_of(tau, w, s), shift};
}

Tensor turns_of(const ObjectMotions& motions) {
  return lie::logs(identity_like(motions.rotation).contiguous(), motions.rotation, kRotations).w;
}

ObjectMotions composed(const ObjectMotions& first, const ObjectMotions& second) {
  const Tensor rotation = lie::compose(second.rotation, first.rotation, kRotations);
  return {rotation, change_of(rotation), first.shift + second.shift};
}

ObjectMotions rest_of(const ObjectMotions& both, const ObjectMotions& first) {
  const Tensor back = at::cat({-first.rotation.slice(1, 0, 3), first.rotation.slice(1, 3, 4)}, 1);
  const Tensor rotation = lie::compose(both.rotation, back, kRotations);
  return {rotation, change_of(rotation), both.shift - first.shift};
}

Tensor vertex_errors(const ObjectMotions& a, const ObjectMotions& b, const Tensor& mean,
                     const Tensor& moment) {
  const Tensor A = a.change - b.change, d = a.shift - b.shift;
  const Tensor along = at::matmul(A, mean.unsqueeze(2)).squeeze(2);
  return ((d * d).sum(1) + 2 * (d * along).sum(1) + (at::matmul(A, moment) * A).sum({1, 2})) / 3;
}

Tensor angle_errors(const ObjectMotions& a, const ObjectMotions& b) {
  return lie::logs(a.rotation.contiguous(), b.rotation.contiguous(), kRotations).w.square().sum(1).sqrt();
}

Tensor centres_of_objects(const Points& points) {
  return segment_mean(wide(points.positions), points.objects);
}

Segments objects_of_graphs(const Points& points) {
  std::vector<int64_t> sizes(static_cast<size_t>(points.count()), 0);
  for (int64_t o = 0, g = 0; o < points.objects.count(); ++o) {
    while (points.graphs.offsets[static_cast<size_t>(g) + 1] <=
           points.objects.offsets[static_cast<size_t>(o)]) {
      ++g;
    }
    ++sizes[static_cast<size_t>(g)];
  }
  return Segments::of_sizes(sizes, points.positions.device());
}

}  // namespace weyl
