#include "weyl/study/transformations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/round.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/random_tensor.h"

namespace weyl {
namespace {

const Points& points_of(const Batch& batch) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "audit: the samples must be points, got another carrier");
  return *points;
}

/// Edge of the box that holds all positions; 1 without any.
double extent_of(const Tensor& x) {
  return x.size(0) > 0 ? (std::get<0>(x.max(0)) - std::get<0>(x.min(0))).max().item<double>() : 1;
}

/// Rounds positions or shifts to a grid so coarse (2^-23 of their reach) that position + shift is exact in
/// float32 too. A rounded sum would be another input: its rounding times the slope of the model, which is
/// large at a close encounter, is not an error of symmetry.
Tensor on_grid(const Tensor& values, const Tensor& positions) {
  const double largest = positions.numel() > 0 ? positions.abs().max().item<double>() : 0;
  const double reach = largest + extent_of(positions);
  if (!std::isfinite(reach) || reach == 0) {
    return values;
  }
  const double step = std::exp2(std::ceil(std::log2(reach)) - 23);
  return at::round(values / step) * step;
}

Transformation moving(std::string name, int64_t order, Schema schema,
                      std::function<Motions(const Batch&, int64_t, Stream&)> draw) {
  return {std::move(name), order,
          [schema = std::move(schema), draw = std::move(draw)](const Batch& batch, int64_t round,
                                                               Stream& stream) {
            const Motions motions = draw(batch, round, stream);
            return Moved{
                transform(batch, motions, schema),
                [motions, like = batch.input](const Named& values, std::span<const Quantity> quantities) {
                  return transform(values, quantities, motions, like);
                }};
          }};
}

}  // namespace

Transformation finite_motions(const Schema& schema, const GroupPtr& group) {
  return moving(group->name(), group->order(), schema, [group](const Batch& batch, int64_t round, Stream&) {
    const int64_t B = batch.count(), D = group->dimension();
    Tensor linear = at::empty({B, D, D}, at::kDouble);
    for (int64_t b = 0; b < B; ++b) {
      const auto element = group->element((round * B + b) % group->order());
      std::copy(element.begin(), element.end(), linear.data_ptr<double>() + b * D * D);
    }
    return Motions{linear, {}};
  });
}

Transformation rotations(const Schema& schema, bool reflections, std::string name) {
  const int64_t D = schema.interface.dimension;
  return moving(std::move(name), 0, schema, [D, reflections](const Batch& batch, int64_t, Stream& stream) {
    return random_rotations(batch.count(), D, reflections, stream);
  });
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
  return moving("translations", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    const Tensor& x = points_of(batch).positions;
    const double extent = extent_of(x);
    const int64_t B = batch.count();
    const Tensor shift = uniform_tensor({B, D}, -extent, extent, stream);
    return Motions{at::eye(D, at::kDouble).expand({B, D, D}), on_grid(shift, x)};
  });
}

Transformation permutations(const Schema& schema) {
  return {"permutations", 0, [schema](const Batch& batch, int64_t, Stream& stream) {
            const Points& points = points_of(batch);
            const Segments& groups = points.objects.count() > 0 ? points.objects : points.graphs;
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
  }
  throw ShapeError("audit: a claim of an unknown kind");
}

Batch on_grid(Batch batch) {
  const Tensor x = points_of(batch).positions;
  std::get<Points>(batch.input).positions = on_grid(x.to(at::kDouble), x);
  return batch;
}

}  // namespace weyl
