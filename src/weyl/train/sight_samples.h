#pragma once

#include <cstdint>
#include <span>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"

namespace weyl {

/// A few samples of a training set to try a model on, without labels, float64 on the CPU: about `tokens` tokens in all,
/// of graphs that have two nodes or more where there are such. Of a graph that is too large those nodes that are nearest
/// to its first one, so that what was within a cut-off stays there, of each of its objects as many (a graph with pairs stays
/// whole); of a grid, cut to `crop` where training is on crops, the middle, halved until it is small enough.
Input sight_samples(const Dataset& data, std::span<const int64_t> crop, int64_t tokens);

/// Places of poses: the last column (N, n) of their matrices; all of it (N, n, n) where they have none, as rotations.
Tensor places_of(const Poses& poses);

}  // namespace weyl
