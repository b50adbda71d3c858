#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/saved/predictor.h"

namespace weyl {

/// Bodies of one sample at several times, in two dimensions, as they were and as a model says.
struct BodyFilm {
  std::vector<std::string> times;  // F words: "start", "step 5"
  std::string unit;                // of both coordinates
  /// (F, n, 2) places of n points, or (F, n, 4) both ends of n outlines; float32. The first time is what the model is
  /// shown, there both are the same.
  Tensor truth, prediction;
  Tensor ground;  // (G, 4) lines of the floor, or undefined
};

/// The film of a batch of one sample with labels; nothing for models whose predictions are no motion of bodies.
///
/// Rigid objects (task rigid_motion): their edges, those between triangles that lie in one plane left out, at the start
/// and at up to four of the steps that the labels have, seen from above the horizon; it is across `up` where the nodes have
/// it, else the third axis. With `height`, lines of the floor below. Other points (task trajectory), such as bodies that
/// attract one another: dots at the start and where they are `horizon` later, seen along the axis along which they are
/// spread least.
std::optional<BodyFilm> film_of(const Predictor& predictor, const Batch& sample, double horizon);

}  // namespace weyl
