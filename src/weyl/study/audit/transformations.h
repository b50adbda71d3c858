#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/random.h"
#include "weyl/models/model.h"

namespace weyl {

/// A batch g x, and f(x) -> g f(x) for its outputs.
struct Moved {
  Batch batch;
  std::function<Named(const Named& values, std::span<const Quantity> quantities)> act;
  /// Set where `batch` had to be rounded: the float64 batch whose exact image the rounded batch is. Where `batch`
  /// itself is float64, the rounding is too small for float64 to hold, and the samples are displaced `magnified` times
  /// as far.
  std::optional<Batch> before;
  double magnified = 1;
  /// Whether only the difference of f(before) and f(x) counts, both in float64. The rest is the model's own float32
  /// rounding, which the samples and their image share.
  bool displaced = false;
};

/// A set of transformations of a batch, as an audit applies them: in each round every graph gets an element of its own.
struct Transformation {
  std::string name;
  int64_t order = 0;  // order of a finite group, whose elements the rounds go through; 0: elements are drawn
  std::function<Moved(const Batch& batch, int64_t round, Stream& stream)> apply;
};

/// Every element of a finite group of orthogonal matrices.
Transformation finite_motions(const Schema& schema, const GroupPtr& group);

/// Uniform elements of SO(D) or, with `reflections`, of O(D). D is 1 (the identity, and the two signs), 2 or 3.
Transformation rotations(const Schema& schema, bool reflections, std::string name);

/// Uniform elements of O(D) of determinant -1.
Transformation mirrors(const Schema& schema);

/// x -> Q diag(0.6, 1, 1.5) Q^T x with a uniform rotation Q, without the 1 in the plane; x -> 1.5 x on a
/// line. No system claims it.
Transformation shears(const Schema& schema);

/// Shifts by up to the extent of the positions, on a grid (2^-23 of their reach). On it position + shift is exact in
/// float32 for positions that lie on it (`on_grid`). Other features with a place (multivectors, vectors of role
/// `point`) are rounded, and `before` holds the batch whose exact image they are.
Transformation translations(const Schema& schema);

/// Shifts from the left by up to 1e6 times the extent of the positions (of poses: of their translations). Each graph is
/// then brought near the origin again, as users of a model do that is exact under translations (carriers/origin.h). The
/// transformation shows what rounding leaves of samples far from the origin.
Transformation far_translations(const Schema& schema, Centre centre);

/// g -> a g for every token of a graph, with a drawn by the law of the poses' group and translations up to the extent
/// of the data. The product a g is rounded to the dtype of the poses; `before` holds the poses whose exact image it is.
Transformation left_motions(const Schema& schema, std::string name);

/// g -> a g for the tokens of one copy and g -> b g for those of the other (task registration), a and b drawn as by
/// left_motions. Elements of tokens are in the frame of the other copy, so they move with its motion. `before` as there.
Transformation copy_motions(const Schema& schema);

/// g -> g exp(e) with the same e for all tokens of a graph, coordinates N(0, 0.3^2). Elements of nodes and of graphs
/// move likewise. A model that knows relative poses alone does not claim this symmetry.
Transformation right_motions(const Schema& schema);

/// g_i -> g_i exp(e_i) with an e_i of its own for each token, coordinates N(0, 0.1^2). Relative poses change, so no
/// model that sees them claims this symmetry. Elements of nodes move likewise, those of graphs stay.
Transformation right_factors(const Schema& schema);

/// Uniform permutations of the nodes of each graph, or of each object where there are objects.
Transformation permutations(const Schema& schema);

/// For grids: row i of the first axis is rolled by i cells along the last. Nothing is interpolated, and no system
/// claims it.
Transformation grid_shears(const Schema& schema);

/// For grids: one axis is reversed, then a quarter turn follows that keeps the shape, drawn for each grid.
Transformation grid_mirrors(const Schema& schema);

/// For grids of a set that can make them anew (Dataset::made_anew), `rows` of it: each turned uniformly, if `turned`, and shifted by
/// `cells` in a uniform direction, before it becomes cells. Outputs are of graphs and stay as they are. Nothing is
/// interpolated: what shows is what the model makes of other samplings of the same shape.
Transformation made_anew(std::shared_ptr<const Dataset> data, std::vector<int64_t> rows, bool turned,
                         double cells, std::string name);

/// For grids: quarter turns that keep the shape, drawn for each grid.
Transformation grid_turns(const Schema& schema);

/// The transformation that a claim is checked with. ShapeError: a claim of a finite group does not name the group.
Transformation transformation_of(const Claim& claim, const Schema& schema);

/// The samples with their positions and cells rounded to the grid of `translations`, in float64. Poses become the
/// nearest elements of their group; grids stay as they are.
Batch on_grid(Batch batch);

}  // namespace weyl
