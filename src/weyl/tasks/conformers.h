#pragma once

#include <functional>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/conformers.h"

namespace weyl {

/// The mean of f, one tensor of the graphs (B, ...), over the conformers of a batch of points that has the label
/// `conformers`; f of the input where it has none. Of conformers that come again each counts once. Each conformer is put where the input is, centroid on centroid, so that a
/// shift of the input stays. ShapeError: the label is not of (N, C, 3), or the batch is not of points.
Tensor mean_over_conformers(const Batch& batch, const std::function<Tensor(const Input&)>& f);

}  // namespace weyl
