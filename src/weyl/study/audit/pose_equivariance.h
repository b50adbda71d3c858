#pragma once

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// How far the predicted element is from moving with its input, as Lie-algebra attention's paper measures it:
///
///   e = |log((a f(S))^-1 f(a S))|^2
///
/// in physical coordinates, over samples S and random elements a. Between tokens of equal merit, `a` may change the
/// choice, and the prediction jumps to that of the other token. Such flips say nothing of rounding; they are counted
/// and left out of the rest.
struct PoseEquivariance {
  std::string dtype;                                       // dtype of the model
  int64_t count = 0, flips = 0;                            // of pairs (S, a)
  double mean_square = 0, median_square = 0, largest = 0;  // of e, without flips; NaN when all flip
  double root_mean_square = 0;
};

/// Whether a task predicts an `element` of each graph from the logits `gap` of its tokens, as the measure needs.
bool predicts_poses(const Task& task, const Model& model);

/// Measures with `elements` random elements for each sample, drawn like the first elements of sequences: rotations
/// uniform, translations N(0, spread^2), affine maps R exp(S). Samples are brought near the origin where the model is
/// exact under left motions (to_origin), and rounded to its dtype. They are then moved in float64 and rounded once;
/// everything after the model is float64. The model is used in its present dtype and mode. ShapeError: the samples are
/// not poses.
PoseEquivariance pose_equivariance(Model& model, const Task& task, const Batch& samples, const Schema& schema,
                                   uint64_t seed = 0, int64_t elements = 10, double spread = 3);

}  // namespace weyl
