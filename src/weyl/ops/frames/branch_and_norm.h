#pragma once

#include <memory>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/frames/fourier_tables.h"

namespace weyl {

/// Which parts an op has, and whether its functions are planes (null: rows).
struct BranchAndNormParts {
  bool branch, norm;
  double epsilon = 0;
  bool centred = true;
  std::shared_ptr<const FourierTables> planes;
};

/// Inputs, of which all but x and the branch may be undefined.
enum BranchAndNormInput : size_t { kX, kOffset, kScale, kRows, kNoise, kWeight, kBias, kBranch };

/// The op of all functions of frame_norm.h. Inputs as above, a branch last. Results: the sum where there is a branch, what is
/// normed where there is a norm.
std::shared_ptr<const Differentiable> branch_and_norm(BranchAndNormParts parts);

}  // namespace weyl
