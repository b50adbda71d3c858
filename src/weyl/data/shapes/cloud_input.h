#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/data/shapes/turning.h"

namespace weyl {

/// Which axes of a sample its nodes are told of, as vectors that turn with it: none, the upward one, or x, y and z.
enum class CloudFrame { none, up, axes };
constexpr auto names_of(CloudFrame) {
  return std::array<std::string_view, 3>{"none", "up", "axes"};
}

/// How training changes clouds at random, in each epoch anew. Nothing by default.
struct CloudAugmentation {
  bool draw = false;               // the points, where there are more, and the first centre
  Turning rotate = Turning::none;  // about the upward axis, or any
  double scale = 1;                // factors from 1 / scale to scale
  double jitter = 0;               // deviation of the noise, in root mean square distances from the middle

  bool changes() const { return draw || rotate != Turning::none || scale != 1 || jitter > 0; }
};
void fields(Fields& f, CloudAugmentation& o);

/// How the clouds of a set are given, the same for all sets of clouds.
struct CloudInput {
  int64_t centres = 0;     // points that are nodes, by farthest-point sampling; 0: all
  int64_t neighbours = 0;  // of each node among all points, as vectors from it
  CloudFrame frame = CloudFrame::none;
  std::optional<CloudAugmentation> augment;  // of training clouds

  /// Whether training draws points, so that all there are must be kept.
  bool draws() const { return augment && augment->draw; }
  /// Whether it matters which axis is upwards.
  bool knows_up() const { return frame == CloudFrame::up || (augment && augment->rotate == Turning::z); }
  /// Nodes of a cloud of so many points.
  int64_t nodes(int64_t points) const { return centres > 0 && centres < points ? centres : points; }
};
void fields(Fields& f, CloudInput& o);

/// ConfigError for what cannot act: an augmentation that changes nothing, or draws what there is no choice of; as many
/// centres or neighbours as there are points. `points`: of a cloud, at most; 0: not known. `table`: "data.clouds".
void require_effects(const CloudInput& input, int64_t points, const std::string& table);

/// The vectors of a node: `neighbours` (offsets) and `frame`, those there are, in this order.
std::vector<Quantity> features_of(const CloudInput& input);

}  // namespace weyl
