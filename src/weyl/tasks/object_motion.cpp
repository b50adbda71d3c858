#include "weyl/tasks/object_motion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_solve_ex.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <optional>
#include <tuple>

#include "weyl/carriers/layout.h"
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

namespace {

constexpr const char* kVelocityFeature = "velocity";
constexpr const char* kVerticesFeature = "vertices";
constexpr const char* kVertexVelocities = "vertex_velocities";
constexpr const char* kUp = "up";
constexpr const char* kHeight = "height";

const Columns* column(const std::vector<Columns>& all, const char* name) {
  for (const Columns& c : all) {
    if (c.quantity->name == name) {
      return &c;
    }
  }
  return nullptr;
}

Tensor part(const Tensor& all, const Columns& c) {
  return all.slice(1, c.begin, c.end);
}

bool belongs_to_scene(const Quantity& q) {
  return q.name == kUp || q.level == Level::graph;
}

/// R - 1 of each node's object applied to vectors (N, V, 3).
Tensor changes(const Points& points, const Tensor& vectors, const ObjectMotions& motions) {
  return at::matmul(vectors.to(at::kDouble), spread(motions.change, points.objects).transpose(1, 2));
}

/// The unit vector against gravity on every node, (N, 3); nothing where none is given.
std::optional<Tensor> up_of(const Points& points, const std::vector<Columns>& vectors) {
  if (const Columns* up = column(vectors, kUp)) {
    return part(points.vectors, *up).select(1, 0).to(at::kDouble);
  }
  const auto found = points.of_graphs.find(kUp);
  if (found == points.of_graphs.end()) {
    return std::nullopt;
  }
  return spread(found->second.select(1, 0).to(at::kDouble), points.graphs);
}

}  // namespace

void require_movable(const Interface& interface) {
  for (const Quantity& q : interface.features) {
    const bool moves =
        (is_vector(q.kind, interface.dimension) || q.kind == Kind::multivector) && !belongs_to_scene(q);
    const bool nodes = q.level == Level::node && q.kind == Kind::vector;
    const bool known =
        nodes && (q.role != Role::free || q.name == kVelocityFeature || q.name == kVertexVelocities);
    require<ConfigError>(!moves || known,
                         "rigid_motion: several steps need features that are known to move with "
                         "their object; '",
                         q.name, "', a ", kind_names[static_cast<int>(q.kind)], " of ",
                         level_names[static_cast<int>(q.level)], " level, is not");
    if (q.name == kVertexVelocities) {
      const Quantity* corners = find_quantity(interface.features, kVerticesFeature);
      require<ConfigError>(corners != nullptr && corners->channels == q.channels,
                           "rigid_motion: several steps need as many 'vertices' as 'vertex_velocities', ",
                           q.channels, ", got ", corners == nullptr ? 0 : corners->channels);
    }
  }
}

Tensor moved_places(const Points& points, const Tensor& offsets, const ObjectMotions& motions) {
  const Tensor v = offsets.to(at::kDouble);
  const Tensor arm = points.positions.to(at::kDouble) - spread(centres_of_objects(points), points.objects);
  return v + spread(motions.shift, points.objects).unsqueeze(1) +
         changes(points, arm.unsqueeze(1) + v, motions);
}

Points moved_objects(const Points& points, const Interface& interface, const ObjectMotions& motions) {
  require_movable(interface);
  const auto dtype = points.positions.scalar_type();
  const std::vector<Columns> vectors = vector_columns(interface, Level::node),
                             scalars = scalar_columns(interface, Level::node);
  const Tensor gone =
      moved_places(points, at::zeros_like(points.positions).unsqueeze(1), motions);  // (N, 1, 3)
  Points moved = points;
  moved.positions = (points.positions.to(at::kDouble) + gone.squeeze(1)).to(dtype);
  if (!vectors.empty()) {
    moved.vectors = points.vectors.clone();
  }
  for (const Columns& c : vectors) {
    const Quantity& q = *c.quantity;
    const Tensor old = part(points.vectors, c);
    Tensor now;
    if (belongs_to_scene(q)) {
      continue;
    }
    if (q.name == kVelocityFeature) {
      now = gone.expand_as(old);
    } else if (q.name == kVertexVelocities) {
      const Tensor corners = part(points.vectors, *column(vectors, kVerticesFeature));
      now = gone + changes(points, corners, motions);
    } else if (q.role == Role::point) {
      const Tensor offset = old.to(at::kDouble) - points.positions.to(at::kDouble).unsqueeze(1);
      now = old + gone + changes(points, offset, motions);
    } else {
      now = old + changes(points, old, motions);
    }
    part(moved.vectors, c).copy_(now.to(dtype));
  }
  const Columns* height = column(scalars, kHeight);
  if (const auto up = up_of(points, vectors); up && height != nullptr) {
    moved.scalars = points.scalars.clone();
    const Tensor risen = (gone.squeeze(1) * *up).sum(1, true);
    part(moved.scalars, *height).add_(risen.to(dtype));
  }
  return moved;
}

}  // namespace weyl
