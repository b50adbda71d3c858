#include "weyl/data/clouds/cloud_input.h"

#include "weyl/core/check.h"

namespace weyl {

void fields(Fields& f, CloudAugmentation& o) {
  f("draw", o.draw,
    "draws points where there are more than are taken, and the first centre; on meshes new points");
  f("rotate", o.rotate,
    "turns each cloud, vectors and frame with it: about the upward axis (z, whichever it is), by the Euler "
    "angles of ModelNet's SO(3) tests, or uniformly");
  f("scale", o.scale, "multiplies positions by a factor between 1 / scale and scale; 1: off", {1, 100});
  f("jitter", o.jitter,
    "adds normal noise to each coordinate: its deviation, in units of the root mean square distance of the "
    "points from their mean",
    {0, 10});
  f("shift", o.shift,
    "moves each cloud by a vector with components between -shift and shift, in the unit of its positions (1: the radius of "
    "the ball that `fit` puts it into)",
    {0, 1e6});
}

void fields(Fields& f, CloudInput& o) {
  f("centres", o.centres,
    "points of a sample that are nodes, by farthest-point sampling; 0: all points, and of samples with no "
    "more points all, too",
    {0, 1e6});
  f("neighbours", o.neighbours,
    "tells each node of so many nearest points of the sample, which need not be nodes; 0: of none",
    {0, 4096});
  f("neighbours_as", o.neighbours_as,
    "how: by the vectors to them, the nearest first, or by moments, numbers that no turn changes and few vectors, from "
    "which systems that are exact under rotations learn faster");
  f("frame", o.frame,
    "gives each node axes of the sample as vectors, which turn with it: the upward one, or x, y and z");
  f("augment", o.augment, "changes training samples at random, in each epoch anew");
}

void require_effects(const CloudInput& input, int64_t points, const std::string& table) {
  if (input.augment) {
    require<ConfigError>(
        input.augment->changes(), table,
        ".augment: must draw, rotate, scale, jitter or shift, or be false; as it is it changes "
        "nothing");
    require<ConfigError>(!input.augment->draw || points > 0 || input.centres > 0, table,
                         ".augment.draw: needs points or centres above 0: it draws so many");
  }
  require<ConfigError>(points == 0 || input.centres < points, table,
                       ".centres: must be less than points = ", points, ", of which they are chosen, got ",
                       input.centres);
  require<ConfigError>(points == 0 || input.neighbours < points, table,
                       ".neighbours: must be less than points = ", points, ", among which they are, got ",
                       input.neighbours);
  const bool moments = input.neighbours_as == NeighboursAs::moments;
  require<ConfigError>(!moments || input.neighbours >= least_of_moments, table,
                       ".neighbours: must be at least ", least_of_moments,
                       " with neighbours_as = \"moments\", got ", input.neighbours);
}

std::vector<Quantity> features_of(const CloudInput& input) {
  std::vector<Quantity> features;
  if (input.moments()) {
    features.push_back({.name = "surroundings", .channels = moment_numbers});
    features.push_back({.name = "moments", .kind = Kind::vector, .channels = moment_vectors});
  } else if (input.neighbours > 0) {
    features.push_back(
        {.name = "neighbours", .kind = Kind::vector, .channels = input.neighbours, .role = Role::offset});
  }
  if (input.frame != CloudFrame::none) {
    features.push_back(
        {.name = "frame", .kind = Kind::vector, .channels = input.frame == CloudFrame::up ? 1 : 3});
  }
  return features;
}

}  // namespace weyl
