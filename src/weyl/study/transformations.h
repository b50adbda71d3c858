#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/core/random.h"
#include "weyl/models/model.h"

namespace weyl {

/// A batch g x, and f(x) -> g f(x) for its outputs.
struct Moved {
  Batch batch;
  std::function<Named(const Named& values, std::span<const Quantity> quantities)> act;
  /// Where `batch` had to be rounded: the batch it is the image of, in float64. Of a float64 batch, whose
  /// rounding float64 does not hold, the samples displaced `magnified` times as far as that.
  std::optional<Batch> before;
  double magnified = 1;
  /// Only the difference of f(before) from f(x) counts, both in float64: the rest is the model's own
  /// float32, which the samples and their image share.
  bool displaced = false;
};

/// A set of transformations of a batch, as an audit applies them: in each round every
/// graph under an element of its own.
struct Transformation {
  std::string name;
  int64_t order = 0;  // of a finite group, whose elements the rounds go through; 0: drawn from the stream
  std::function<Moved(const Batch& batch, int64_t round, Stream& stream)> apply;
};

/// Every element of a finite group of orthogonal matrices.
Transformation finite_motions(const Schema& schema, const GroupPtr& group);

/// Uniform elements of SO(D), with `reflections` of O(D); D is 1 (the identity, and the two signs), 2 or 3.
Transformation rotations(const Schema& schema, bool reflections, std::string name);

/// Uniform elements of O(D) of determinant -1.
Transformation mirrors(const Schema& schema);

/// x -> Q diag(0.6, 1, 1.5) Q^T x with a uniform rotation Q, without the 1 in the plane; x -> 1.5 x on a
/// line. No system claims it.
Transformation shears(const Schema& schema);

/// Shifts by up to the extent of the positions, on a grid (2^-23 of their reach) on which position + shift is
/// exact in float32 for positions that lie on it (`on_grid`). What rounding other features with a place (multivectors,
/// vectors of role `point`) is worth is in `before`.
Transformation translations(const Schema& schema);

/// Shifts by up to 1e6 times the extent of the positions (of poses: of their translations), from the left, after which
/// each graph is brought near the origin again, as whoever uses a model that is exact under translations does
/// (carriers/origin.h): what rounding leaves of samples far from the origin.
Transformation far_translations(const Schema& schema);

/// g -> a g of every token of a graph, a drawn by the law of the poses' group, with translations up to the
/// extent of the data. What rounding a g is worth before the motion is in `before`.
Transformation left_motions(const Schema& schema, std::string name);

/// g -> g exp(e), e the same for all tokens of a graph, with coordinates N(0, 0.3^2). Node elements move
/// likewise, elements of graphs too: what a model that knows relative poses alone does not claim.
Transformation right_motions(const Schema& schema);

/// g_i -> g_i exp(e_i), e_i of its own for each token, with coordinates N(0, 0.1^2): relative poses change,
/// so no model that sees them claims it. Node elements move likewise, those of graphs stay.
Transformation right_factors(const Schema& schema);

/// Uniform permutations of the nodes of each graph, or of each object where there are objects.
Transformation permutations(const Schema& schema);

/// On grids: row i of the first axis is rolled by i cells along the last. Nothing is interpolated, and no
/// system claims it.
Transformation grid_shears(const Schema& schema);

/// On grids: one axis is reversed, then a quarter turn that keeps the shape, drawn for each grid.
Transformation grid_mirrors(const Schema& schema);

/// What a claim is checked on. ShapeError for a claim of a finite group that does not name it.
Transformation transformation_of(const Claim& claim, const Schema& schema);

/// The samples with their positions and cells on the grid of `translations`, in float64; poses as the nearest elements
/// of their group. ShapeError for a carrier other than points and poses.
Batch on_grid(Batch batch);

}  // namespace weyl
