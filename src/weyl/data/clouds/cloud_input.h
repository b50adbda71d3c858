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
  int64_t neighbours = 0;  // of each node, among all points, given as vectors from the node
  CloudFrame frame = CloudFrame::none;
  std::optional<CloudAugmentation> augment;  // of training clouds

  /// Whether training draws points, so that all points must be kept.
  bool draws() const { return augment && augment->draw; }
  /// Whether it matters which axis is upwards.
  bool knows_up() const { return frame == CloudFrame::up || (augment && augment->rotate == Turning::z); }
  /// How many nodes a cloud of `points` points has.
  int64_t nodes(int64_t points) const { return centres > 0 && centres < points ? centres : points; }
};
void fields(Fields& f, CloudInput& o);

/// ConfigError for options that cannot have an effect: an augmentation that changes nothing, or that draws although
/// there is nothing to choose from; as many centres or neighbours as there are points. `points`: the most points of a
/// cloud; 0: not known. `table`: the name in messages, "data.clouds".
void require_effects(const CloudInput& input, int64_t points, const std::string& table);

/// The vectors of a node: `neighbours` (offsets), then `frame`, where the options ask for them.
std::vector<Quantity> features_of(const CloudInput& input);

}  // namespace weyl
