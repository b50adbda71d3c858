#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/saved/predictor.h"

namespace weyl {

/// Bodies of one sample at several times, in two dimensions: the truth, and what a model predicts.
struct BodyFilm {
  std::vector<std::string> times;  // F words: "start", "step 5", "after 0.1 ps"
  std::string step;  // how long a step of these words is: "1 frame"; empty where it is not known
  std::string unit;  // of both coordinates
  /// (F, n, 2) places of n points, or (F, n, 4) both ends of n outlines; float32. The first time is the model's input,
  /// where both are the same.
  Tensor truth, prediction;
  Tensor ground;  // (G, 4) lines of the floor, or undefined
};

/// The film of a batch of one sample with labels. Nothing for models that do not predict the motion of bodies.
///
/// Rigid objects (task rigid_motion) are drawn by their edges, without those between triangles that lie in one plane,
/// at the start and at up to four of the steps that the labels have. The view is from above the horizon. The horizon is
/// perpendicular to `up` where the nodes have it, else to the third axis. With `height`, lines of the floor are drawn
/// below.
///
/// Other points (task trajectory), such as bodies that attract one another, are drawn as dots, at the start and
/// `horizon` later. The view is along the axis along which they are spread least.
///
/// `horizon` is the time of a step, 0 where it is not known, in the unit that the feature `velocity` is told by.
std::optional<BodyFilm> film_of(const Predictor& predictor, const Batch& sample, double horizon);

}  // namespace weyl
