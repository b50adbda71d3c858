#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/data/clouds/turning.h"

namespace weyl {

/// Which axes of the sample each node gets as vectors, which turn with the sample: none, the upward one, or x, y and z.
enum class CloudFrame { none, up, axes };
constexpr auto names_of(CloudFrame) {
  return std::array<std::string_view, 3>{"none", "up", "axes"};
}

/// How a node is given its neighbours: the vectors to them; or moments, numbers and vectors whose count does not depend on that of
/// the neighbours. Of a node at x, with m the mean of all points of the cloud, R the distance to the last of its k neighbours x_j,
/// u_j = (x_j - x) / R and r_j = |u_j|, for the two weights w_0 = 3 (1 - r^2)^2 and w_1 = 12 r^2 (1 - r^2)^2,
///
///   numbers  R, |x - m|, and for each weight  sum w(r_j) / k,  |v|,  the eigenvalues of sum w(r_j) u_j u_j^T / k, ascending
///   vectors  m - x, and for each weight  v = sum w(r_j) u_j / k
///
/// A weight is 1 on average over a flat surface and 0 for the last neighbour, so that none of them jumps where another point
/// comes to be the last, and points as far away as that are all left out, whichever is taken. Numbers do not change when
/// the cloud is turned, mirrored or moved, vectors turn with it, and the order of the points is of no account; all of it to
/// rounding (1e-7 of the eigenvalues, where two are equal). Where all neighbours are at x itself, all sums are 0.
enum class NeighboursAs { vectors, moments };
constexpr auto names_of(NeighboursAs) {
  return std::array<std::string_view, 2>{"vectors", "moments"};
}

constexpr int64_t moment_numbers = 12, moment_vectors = 3;
constexpr int64_t least_of_moments = 4;  // neighbours, of which three count

/// Random changes of the clouds in training, drawn anew in each epoch. The default changes nothing.
struct CloudAugmentation {
  bool draw = false;               // draws the points, where there are more, and the first centre
  Turning rotate = Turning::none;  // about the upward axis, or any
  double scale = 1;                // factors from 1 / scale to scale
  double jitter = 0;               // standard deviation of noise, over the rms distance from the middle
  double shift = 0;                // components uniform from -shift to shift, in the unit of the positions

  bool changes() const { return draw || rotate != Turning::none || scale != 1 || jitter > 0 || shift > 0; }
};
void fields(Fields& f, CloudAugmentation& o);

/// How the clouds of a set are given, the same for all sets of clouds.
struct CloudInput {
  int64_t centres = 0;     // points that are nodes, by farthest-point sampling; 0: all
  int64_t neighbours = 0;  // of each node, among all points
  NeighboursAs neighbours_as = NeighboursAs::vectors;
  CloudFrame frame = CloudFrame::none;
  std::optional<CloudAugmentation> augment;  // of training clouds

  /// Whether training draws points, so that all points must be kept.
  bool draws() const { return augment && augment->draw; }
  /// Whether it matters which axis is upwards.
  bool knows_up() const { return frame == CloudFrame::up || (augment && augment->rotate == Turning::z); }
  bool moments() const { return neighbours > 0 && neighbours_as == NeighboursAs::moments; }
  /// How many nodes a cloud of `points` points has.
  int64_t nodes(int64_t points) const { return centres > 0 && centres < points ? centres : points; }
};
void fields(Fields& f, CloudInput& o);

/// ConfigError for options that cannot have an effect: an augmentation that changes nothing, or that draws although
/// there is nothing to choose from; as many centres or neighbours as there are points; moments of too few neighbours. `points`: the most points of a
/// cloud; 0: not known. `table`: the name in messages, "data.clouds".
void require_effects(const CloudInput& input, int64_t points, const std::string& table);

/// What a node is given beside its place, where the options ask for it: the vectors `neighbours` (offsets), or the numbers
/// `surroundings` and the vectors `moments`; then the vectors `frame`.
std::vector<Quantity> features_of(const CloudInput& input);

}  // namespace weyl
