#include "weyl/study/audit/transformations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/round.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <cmath>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/motion.h"
#include "weyl/carriers/origin.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random_tensor.h"
#include "weyl/tasks/registration.h"

namespace weyl {
namespace {

const Points& points_of(const Batch& batch) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "audit: the samples must be points, got another carrier");
  return *points;
}

const Poses& poses_of(const Batch& batch) {
  const auto* poses = std::get_if<Poses>(&batch.input);
  require(poses != nullptr, "audit: the samples must be poses, got another carrier");
  return *poses;
}

/// Edge of the box that holds all positions; 1 without any, and where all are at one place.
double extent_of(const Tensor& x) {
  const double edge =
      x.size(0) > 0 ? (std::get<0>(x.max(0)) - std::get<0>(x.min(0))).max().item<double>() : 1;
  return edge != 0 ? edge : 1;
}

/// Rounds positions or shifts to a grid so coarse (2^-23 of their reach) that position + shift is exact in
/// float32 too. A rounded sum would be another input: its rounding times the slope of the model, which is
/// large at a close encounter, is not an error of symmetry.
Tensor on_coarse_grid(const Tensor& values, const Tensor& positions) {
  const double largest = positions.numel() > 0 ? positions.abs().max().item<double>() : 0;
  const double reach = largest + extent_of(positions);
  if (!std::isfinite(reach) || reach == 0) {
    return values;
  }
  const double step = std::exp2(std::ceil(std::log2(reach)) - 23);
  return at::round(values / step) * step;
}

Moved moved_by(const Motions& motions, const Batch& batch, const Schema& schema) {
  return {transform(batch, motions, schema),
          [motions, like = batch.input](const Named& values, std::span<const Quantity> quantities) {
            return transform(values, quantities, motions, like);
          }};
}

/// The same for orthogonal motions, with what rounding the turned coordinates is worth in `before`.
Moved turned_by(const Motions& motions, const Batch& batch, const Schema& schema) {
  Moved moved = moved_by(motions, batch, schema);
  const auto* points = std::get_if<Points>(&batch.input);  // a grid's elements move cells to cells
  if (points != nullptr && points->positions.scalar_type() == at::kFloat) {
    const Motions back{motions.linear.transpose(1, 2), {}};
    moved.before = transform(to(moved.batch, at::kCPU, at::kDouble), back, schema);
    moved.displaced = true;
  }
  return moved;
}

/// Whether a feature moves with translations as positions do, but lies on no grid: what rounding its image is worth
/// must be in `before`.
bool has_other_places(const Interface& interface) {
  return std::ranges::any_of(interface.features, has_place);
}

/// The same for translations.
Moved shifted_by(const Motions& motions, const Batch& batch, const Schema& schema) {
  Moved moved = moved_by(motions, batch, schema);
  if (has_other_places(schema.interface)) {
    const Motions back{motions.linear, -motions.translation};
    moved.before = transform(to(moved.batch, at::kCPU, at::kDouble), back, schema);
    moved.displaced = true;
  }
  return moved;
}

Transformation moving(std::string name, int64_t order, Schema schema,
                      std::function<Motions(const Batch&, int64_t, Stream&)> draw,
                      Moved (*move)(const Motions&, const Batch&, const Schema&) = moved_by) {
  return {std::move(name), order,
          [schema = std::move(schema), draw = std::move(draw), move](const Batch& batch, int64_t round,
                                                                     Stream& stream) {
            return move(draw(batch, round, stream), batch, schema);
          }};
}

}  // namespace

Transformation finite_motions(const Schema& schema, const GroupPtr& group) {
  return moving(
      group->name(), group->order(), schema,
      [group](const Batch& batch, int64_t round, Stream&) {
        const int64_t B = batch.count(), D = group->dimension();
        Tensor linear = at::empty({B, D, D}, at::kDouble);
        for (int64_t b = 0; b < B; ++b) {
          const auto element = group->element((round * B + b) % group->order());
          std::copy(element.begin(), element.end(), linear.data_ptr<double>() + b * D * D);
        }
        return Motions{linear, {}};
      },
      turned_by);
}

Transformation rotations(const Schema& schema, bool reflections, std::string name) {
  const int64_t D = schema.interface.dimension;
  return moving(
      std::move(name), 0, schema,
      [D, reflections](const Batch& batch, int64_t, Stream& stream) {
        return random_rotations(batch.count(), D, reflections, stream);
      },
      turned_by);
}

Transformation mirrors(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving("reflection", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    Motions motions = random_rotations(batch.count(), D, false, stream);
    Tensor mirror = at::eye(D, at::kDouble);
    mirror.select(0, 0).select(0, 0).fill_(-1.0);
    motions.linear = at::matmul(motions.linear, mirror);
    return motions;
  });
}

Transformation shears(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving("shear", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    const Tensor turn = random_rotations(batch.count(), D, false, stream).linear;
    Tensor stretch = at::eye(D, at::kDouble);
    stretch.select(0, 0).select(0, 0).fill_(0.6);
    stretch.select(0, D - 1).select(0, D - 1).fill_(1.5);
    return Motions{at::matmul(at::matmul(turn, stretch), turn.transpose(1, 2)), {}};
  });
}

Transformation translations(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving(
      "translations", 0, schema,
      [D](const Batch& batch, int64_t, Stream& stream) {
        const Tensor& x = points_of(batch).positions;
        const double extent = extent_of(x);
        const int64_t B = batch.count();
        const Tensor shift = uniform_tensor({B, D}, -extent, extent, stream);
        return Motions{at::eye(D, at::kDouble).expand({B, D, D}), on_coarse_grid(shift, x)};
      },
      shifted_by);
}

namespace {

/// The translations of matrices (L, m, m), (L, n); none for SO(n).
Tensor translations_of(LieGroup group, const Tensor& elements) {
  const int64_t n = dimension_of(group);
  return matrix_size(group) == n ? elements.new_empty({0, n}) : elements.slice(1, 0, n).select(2, n);
}

/// For each graph an element of the poses' group (B, m, m), as `left_motions` says.
Tensor random_factors(const Poses& poses, Stream& stream) {
  Tensor drawn = random_elements(poses.group, poses.count(), 1, stream);
  const Tensor shifts = translations_of(poses.group, drawn);
  const double extent = extent_of(translations_of(poses.group, poses.elements));
  if (shifts.numel() > 0 && extent > 0) {
    shifts.copy_(uniform_tensor(shifts.sizes().vec(), -extent, extent, stream));
  }
  return drawn;
}

/// y - a x of matrices (L, m, m), a and x in float64, to more digits than float64 has.
Tensor rounding_of(const Tensor& y, const Tensor& a, const Tensor& x) {
  const Tensor wide = y.to(at::kDouble).contiguous(), left = a.contiguous(), right = x.contiguous();
  const Tensor result = at::empty_like(wide);
  const int64_t m = x.size(1);
  const auto *py = wide.const_data_ptr<double>(), *pa = left.const_data_ptr<double>(),
             *px = right.const_data_ptr<double>();
  auto* to = result.mutable_data_ptr<double>();
  for (int64_t at = 0; at < wide.numel(); ++at) {
    const int64_t base = at / (m * m) * m * m, row = at / m % m, column = at % m;
    long double sum = py[at];
    for (int64_t k = 0; k < m; ++k) {
      sum -= static_cast<long double>(pa[base + row * m + k]) * px[base + k * m + column];
    }
    to[at] = static_cast<double>(sum);
  }
  return result;
}

/// Of a batch of poses g that `moved` made of a g, rounded, a (N, m, m): the poses whose exact image the rounded ones are.
void set_before(Moved& moved, const Batch& batch, const Tensor& a) {
  const Poses& poses = poses_of(batch);
  const Tensor x = poses.elements.to(at::kDouble);
  const Tensor rounding = rounding_of(poses_of(moved.batch).elements, a, x);
  moved.magnified = poses.elements.scalar_type() == at::kFloat ? 1 : std::exp2(20);
  moved.before = to(batch, at::kCPU, at::kDouble);
  std::get<Poses>(moved.before->input).elements =
      x + moved.magnified * at::matmul(at::linalg_inv(a), rounding);
}

/// Multiplies elements (L, m, m) by one of `factors` (F, m, m) each from the right, in float64.
Tensor multiplied(const Tensor& elements, const Tensor& factors) {
  return at::matmul(elements.to(at::kDouble), factors).to(elements.scalar_type());
}

/// g_i -> g_i exp(e), coordinates of e N(0, size^2), e one per graph or one per token.
Transformation from_the_right(std::string name, double size, bool one_per_graph) {
  return {std::move(name), 0, [size, one_per_graph](const Batch& batch, int64_t, Stream& stream) {
            const Poses& poses = poses_of(batch);
            const int64_t rows = one_per_graph ? poses.count() : poses.nodes();
            const Tensor e = size * normal_tensor({rows, degrees_of_freedom(poses.group)}, stream);
            const Tensor drawn = exponentials(poses.group, e);
            const Tensor of_nodes = one_per_graph ? at::index_select(drawn, 0, poses.graphs.index) : drawn;
            Moved moved{batch, {}};
            auto& elements = std::get<Poses>(moved.batch.input).elements;
            elements = multiplied(elements, of_nodes);
            moved.act = [of_nodes, of_graphs = one_per_graph ? drawn : Tensor()](
                            const Named& values, std::span<const Quantity> quantities) {
              Named result = values;
              for (const Quantity& q : quantities) {
                const Tensor& factors = q.level == Level::node ? of_nodes : of_graphs;
                if (q.kind == Kind::element && factors.defined()) {
                  result[q.name] = multiplied(values.at(q.name), factors);
                }
              }
              return result;
            };
            return moved;
          }};
}

}  // namespace

Transformation left_motions(const Schema& schema, std::string name) {
  return {std::move(name), 0, [schema](const Batch& batch, int64_t, Stream& stream) {
            const Poses& poses = poses_of(batch);
            const Tensor factors = random_factors(poses, stream);
            Moved moved = moved_by(motions_of(poses.group, factors), batch, schema);
            set_before(moved, batch, at::index_select(factors, 0, poses.graphs.index));
            return moved;
          }};
}

Transformation copy_motions(const Schema& schema) {
  return {"each copy by itself", 0, [schema](const Batch& batch, int64_t, Stream& stream) {
            const Poses& poses = poses_of(batch);
            const Tensor second = second_copy(poses, schema.interface).view({-1, 1, 1});
            const Tensor a = at::index_select(random_factors(poses, stream), 0, poses.graphs.index),
                         b = at::index_select(random_factors(poses, stream), 0, poses.graphs.index);
            const Tensor own = at::where(second, b, a), other = at::where(second, a, b);
            Moved moved{batch, [other](const Named& values, std::span<const Quantity> quantities) {
                          Named result = values;
                          for (const Quantity& q : quantities) {
                            if (q.kind == Kind::element) {
                              const Tensor& g = values.at(q.name);
                              result[q.name] = at::matmul(other, g.to(at::kDouble)).to(g.scalar_type());
                            }
                          }
                          return result;
                        }};
            auto& elements = std::get<Poses>(moved.batch.input).elements;
            elements = at::matmul(own, elements.to(at::kDouble)).to(elements.scalar_type());
            set_before(moved, batch, own);
            return moved;
          }};
}

Transformation far_translations(const Schema& schema, Centre centre) {
  constexpr double kFar = 1e6;
  return {"far translations", 0, [schema, centre](const Batch& batch, int64_t, Stream& stream) {
            const auto* poses = std::get_if<Poses>(&batch.input);
            const Batch wide = to(batch, at::kCPU, at::kDouble);
            const Tensor x = poses != nullptr ? translations_of(poses->group, poses->elements)
                                              : points_of(batch).positions;
            const int64_t B = batch.count(), D = schema.interface.dimension;
            const double reach = kFar * extent_of(x);
            const Motions motions{at::eye(D, at::kDouble).expand({B, D, D}),
                                  on_coarse_grid(uniform_tensor({B, D}, -reach, reach, stream), x)};
            const Batch far = transform(wide, motions, schema);
            const Shift back = to_origin(far.input, centre);
            // Outputs move by the sum, in which the large parts cancel: added one after the other they would round.
            const Tensor& t = motions.translation;
            Shift sum{at::index_select(t, 0, graphs_of(batch.input).index.cpu()), t};
            if (!back.none()) {
              sum = {sum.nodes + back.nodes, sum.graphs + back.graphs};
            }
            Moved moved{shifted(far, back, schema),
                        [sum, like = far.input](const Named& values, std::span<const Quantity> quantities) {
                          return shifted(values, quantities, sum, like);
                        }};
            // On no grid: the sum was rounded, and is again to the samples' dtype.
            if (poses != nullptr || has_other_places(schema.interface)) {
              const Tensor& like = poses != nullptr ? poses->elements : points_of(batch).positions;
              const Batch seen = to(moved.batch, at::kCPU, like.scalar_type());
              moved.before = shifted(to(seen, at::kCPU, at::kDouble), {-sum.nodes, -sum.graphs}, schema);
              moved.displaced = poses == nullptr;
            }
            return moved;
          }};
}

Transformation right_motions(const Schema&) {
  return from_the_right("right multiplication", 0.3, true);
}

Transformation right_factors(const Schema&) {
  return from_the_right("right factors", 0.1, false);
}

Transformation permutations(const Schema& schema) {
  return {"permutations", 0, [schema](const Batch& batch, int64_t, Stream& stream) {
            const auto* points = std::get_if<Points>(&batch.input);
            const bool objects = points != nullptr && points->objects.count() > 0;
            const Segments& groups = objects ? points->objects : graphs_of(batch.input);
            const Tensor order = at::empty({groups.rows()}, at::kLong);
            for (int64_t s = 0; s < groups.count(); ++s) {
              const auto shuffled = stream.permutation(groups.size(s));
              for (int64_t i = 0; i < groups.size(s); ++i) {
                order.data_ptr<int64_t>()[groups.offsets[s] + i] = groups.offsets[s] + shuffled[i];
              }
            }
            return Moved{permute_nodes(batch, order, schema),
                         [order](const Named& values, std::span<const Quantity> quantities) {
                           return permute_nodes(values, quantities, order);
                         }};
          }};
}

namespace {

/// Cells (.., i, .., j) of the last D axes move to (.., i, .., j + i).
Tensor sheared(const Tensor& x, int64_t dimension) {
  const int64_t first = x.dim() - dimension;
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.size(first); ++i) {
    rows.push_back(at::roll(x.select(first, i), i, -1));
  }
  return at::stack(rows, first);
}

}  // namespace

Transformation made_anew(std::shared_ptr<const Dataset> data, std::vector<int64_t> rows, bool turned,
                         double cells, std::string name) {
  const auto apply = [data = std::move(data), rows = std::move(rows), turned, cells](
                         const Batch& batch, int64_t, Stream& stream) {
    const auto B = static_cast<int64_t>(rows.size());
    const Tensor turns = random_rotations(B, 3, false, stream).linear.contiguous();
    std::vector<Placement> by(rows.size());
    for (size_t b = 0; b < by.size(); ++b) {
      if (turned) {
        std::copy_n(turns.const_data_ptr<double>() + 9 * b, 9, by[b].rotation.begin());
      }
      double square = 0;
      std::array<double, 3> way{};
      for (double& x : way) {
        x = stream.normal();
        square += x * x;
      }
      std::ranges::transform(way, by[b].shift.begin(),
                             [&](double x) { return cells * x / std::sqrt(square); });
    }
    Moved moved{*data->made_anew(rows, by),
                [](const Named& values, std::span<const Quantity>) { return values; }};
    moved.batch = to(moved.batch, at::kCPU, std::get<Grid>(batch.input).values.scalar_type());
    return moved;
  };
  return {std::move(name), 0, apply};
}

Transformation grid_shears(const Schema& schema) {
  return {"shear", 0, [D = schema.interface.dimension](const Batch& batch, int64_t, Stream&) {
            Moved moved{batch, {}};
            auto& grid = std::get<Grid>(moved.batch.input);
            grid.values = sheared(grid.values, D);
            moved.act = [D](const Named& values, std::span<const Quantity> quantities) {
              Named result = values;
              for (const Quantity& q : quantities) {
                if (q.level == Level::node) {
                  result[q.name] = sheared(values.at(q.name), D);
                }
              }
              return result;
            };
            return moved;
          }};
}

namespace {

/// R, mirrored R diag(-1, 1, ..), with a quarter turn R that keeps the shape, drawn for each grid.
Transformation quarter_turns(std::string name, const Schema& schema, bool mirrored) {
  const int64_t D = schema.interface.dimension;
  return moving(std::move(name), 0, schema, [D, mirrored](const Batch& batch, int64_t, Stream& stream) {
    const int64_t B = batch.count();
    Tensor linear = at::empty({B, D, D}, at::kDouble);
    for (int64_t b = 0; b < B; ++b) {
      draw_quarter_turns(std::get<Grid>(batch.input), false, stream, linear.data_ptr<double>() + b * D * D);
    }
    if (mirrored) {
      linear.select(2, 0).mul_(-1);
    }
    return Motions{linear, {}};
  });
}

}  // namespace

Transformation grid_mirrors(const Schema& schema) {
  return quarter_turns("reflection", schema, true);
}

Transformation grid_turns(const Schema& schema) {
  return quarter_turns("quarter turn", schema, false);
}

Transformation transformation_of(const Claim& claim, const Schema& schema) {
  switch (claim.of) {
    case Claim::Of::finite:
      require(claim.finite != nullptr, "audit: a claim of a finite group must name it, got '", claim.group,
              "'");
      return finite_motions(schema, claim.finite);
    case Claim::Of::rotations:
      return rotations(schema, false, claim.group);
    case Claim::Of::rotoreflections:
      return rotations(schema, true, claim.group);
    case Claim::Of::translations:
      return translations(schema);
    case Claim::Of::permutations:
      return permutations(schema);
    case Claim::Of::left_motions:
      return left_motions(schema, claim.group);
  }
  throw ShapeError("audit: a claim of an unknown kind");
}

Batch on_grid(Batch batch) {
  if (std::holds_alternative<Grid>(batch.input)) {
    return batch;  // the claims of grids are permutations of their cells
  }
  if (auto* poses = std::get_if<Poses>(&batch.input)) {
    poses->elements = nearest_elements(poses->group, poses->elements);
    return batch;
  }
  auto& points = std::get<Points>(batch.input);
  const Tensor x = points_of(batch).positions;
  points.positions = on_coarse_grid(x.to(at::kDouble), x);
  if (points.cell.defined()) {  // so that many cells are exact too, and nodes that are wrapped
    points.cell = on_coarse_grid(points.cell.to(at::kDouble), x);
  }
  return batch;
}

}  // namespace weyl
