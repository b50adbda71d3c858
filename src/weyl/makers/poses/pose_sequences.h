#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/algebra/lie/group.h"
#include "weyl/algebra/lie/group_list.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/core/random.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Physical coordinates (dof) of a step of a sequence: translation N(0, spread^2); rotations uniform in the
/// ball (interval) of radius `bound`; affine linear parts with entries N(0, 0.15^2), redrawn until all |Im
/// lambda| are below `bound`, so that no logarithm of pi / bound - 1 steps wraps.
std::vector<double> draw_step(const Lie<double>& lie, double spread, double bound, Stream& stream);

/// `constant`: one step h for all of a sequence; `blocks`: steps alternate between two generators that lie in
/// different blocks of the algebra, so that the blocks must be told apart; `beyond`: one step of an affine group that has
/// no logarithm, as diag(-1, -2) has none, so that neighbours are beyond each other's chart.
enum class SequenceVariant { constant, blocks, beyond };
constexpr auto names_of(SequenceVariant) {
  return std::array<std::string_view, 3>{"constant", "blocks", "beyond"};
}

/// An element of an affine group without logarithm, compact: translation N(0, spread^2), linear part H e^X. H is a half-turn
/// of the plane, in space about an axis drawn uniformly; X maps its plane (and in space its axis) to itself, with entries
/// N(0, 0.15^2), redrawn until its eigenvalues in the plane are real and at least 0.2 apart. So A has two distinct negative
/// eigenvalues, which no square of a real matrix has. ShapeError for a rigid group, every element of which is an exponential.
std::vector<double> draw_step_beyond(const Lie<double>& lie, double spread, Stream& stream);

constexpr auto names_of(LiePart) {
  return std::array<std::string_view, 4>{"translation", "rotation", "scale", "traceless_symmetric"};
}

/// Sequences g_0, g_0 h, g_0 h^2, ... of a Lie group with one inner element missing and the others in any
/// order: which two tokens flank the gap, and what stands in it?
///
///   g_0   by the group's own law (algebra/lie/group.h): rotation uniform, affine map R exp(S), translation
///         N(0, spread^2)
///   h     exp of v ~ N(0, step^2) and: rotation so2, se2 uniform in |theta| < b, so3, se3 uniform in the
///         ball of radius b; affine X with entries N(0, 0.15^2), redrawn unless |Im lambda(X)| < b
///   b     pi / S, S the number of elements: over the S - 1 steps of the whole sequence no logarithm wraps,
///         log(h^k) = k log h (pi / 8 for 8 elements)
///   hole  uniform among the inner elements
///   whole a share of the sequences lacks no inner element: the last is left out, so that it has as many tokens as the
///         others, no token has flank 1, and `element` is the one left out, which nobody asks for
///
/// With `longest` the number of elements is uniform in length .. longest (ragged); with `noise` each observed
/// element is g exp(e), e ~ N(0, noise^2) in orthonormal coordinates, with `noise_in` in one block of the algebra alone,
/// of which tokens then tell nothing, while the other blocks' numbers stay exact; the missing one stays exact. Redrawn
/// are sequences with a relative pose outside the chart of the logarithm or near its edge: 0.05 where not
/// every relative pose is a power of one h (blocks, noise), 1e-6 for powers of an affine h, which leave it by
/// rounding alone. So are affine ones with a map that is singular to float32, |det A| at most 1e-6 of the
/// product of its rows' norms: long sequences stretch.
struct PoseSequencesMakerOptions {
  static constexpr const char* name_in_config = "pose_sequences";
  static constexpr const char* makes = "sequences of poses of a Lie group with one missing";
  LieGroup group = LieGroup::se2;
  int64_t train = 5000;
  int64_t valid = 500;
  int64_t test = 500;
  int64_t seed = 0;
  SequenceVariant variant = SequenceVariant::constant;
  int64_t length = 8;   // elements of a sequence, the missing one included
  int64_t longest = 0;  // 0: all have `length`
  double spread = 3;    // of the translation of the first element
  double step = 0.5;    // of the translation of a step
  double whole = 0;     // share of sequences of which nothing is missing
  double noise = 0;
  std::optional<LiePart> noise_in;  // not given: all blocks
  int64_t threads = 0;              // 0: one per core
};
void fields(Fields& f, PoseSequencesMakerOptions& o);
MakerPlan plan_of(const PoseSequencesMakerOptions& o);

/// One sequence: the tokens in the order of the file and what is asked.
struct PoseSequence {
  std::vector<double> tokens;   // (n, m, m), row-major
  std::vector<double> element;  // (m, m), the missing one; of a whole sequence the one after its end
  std::vector<int64_t> flank;   // (n), 1 on the neighbours of the gap, 0 elsewhere
};

/// Sample `index` of a split, a pure function of (options but sizes and threads, split, index). ConfigError:
/// see make_pose_sequences.
PoseSequence make_pose_sequence(const PoseSequencesMakerOptions& options, std::string_view split,
                                int64_t index);

/// Makes train, valid and test (those of nonzero size) as carrier tensor files `<folder>/<split>.safetensors`
/// with labels `element` and `flank` and their provenance as metadata; the same bytes for any number of
/// threads. Files that are there already are never replaced (ConfigError), and when one cannot be written
/// (DataError) none of the new ones is left. False when stopped: then nothing was written. ConfigError:
/// fewer than 4 elements, `longest` below `length`, blocks of a group that has one alone, `noise_in` without noise or
/// of a block that the group has not, a sequence that 1000 draws do not give; an option without effect, spread and step
/// of rotations.
bool make_pose_sequences(const PoseSequencesMakerOptions& options, const std::string& folder,
                         const JobHooks& hooks = {});

}  // namespace weyl
