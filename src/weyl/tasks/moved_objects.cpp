#include "weyl/tasks/moved_objects.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <optional>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/nn/pooling.h"

namespace weyl {
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
