#pragma once

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"

namespace weyl {

/// Whether every sample of `samples` equals its own image in `moved`: the two are the same numbers, to 1e-5 of the largest of
/// their kind in the sample, once the image was moved by some transformation that `symmetry` claims to be exact, which
/// includes the order of nodes where permutations are claimed. A planar molecule is its own mirror image, up to a
/// rotation. A model that keeps its claims must answer such an image as it answers the sample, so that a control that
/// consists of such images controls nothing.
///
/// Of claimed rotations those are tried that bring two arrows (positions, vectors of nodes) of the sample to arrows of the
/// image, and every element of a finite group. Left motions of poses are not tried: what they leave of a sample that
/// equals its image by one is constant. The labels of both batches are empty.
bool are_own_images(const Batch& samples, const Batch& moved, const Symmetry& symmetry, const Schema& schema);

}  // namespace weyl
