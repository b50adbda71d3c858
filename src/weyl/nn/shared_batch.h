#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "weyl/parallel/ranks.h"

namespace weyl {

/// While one lives, in training, norms over the batch are over that of all ranks, of which this process has a part: their sums are
/// added up, in the forward pass and in the backward pass, once for each norm. So all ranks must compute the same modules in the
/// same order. A rank that has no sample of a batch computes any other one, with `counts` false: it adds nothing.
class SharedBatch {
 public:
  SharedBatch(std::shared_ptr<Ranks> ranks, bool counts);
  ~SharedBatch();
  SharedBatch(const SharedBatch&) = delete;
  SharedBatch& operator=(const SharedBatch&) = delete;

  static bool active();

 private:
  std::shared_ptr<Ranks> before_;
  bool counted_before_;
};

/// The sum of `sums` over the ranks of a SharedBatch, else as they are.
Tensor over_the_batch(const Tensor& sums);

/// Mean and variance (C), divided by the count, of all columns of x (C, n) over the ranks of a SharedBatch, float64.
struct BatchMoments {
  double count = 0;
  Tensor mean, variance;  // of no columns undefined
};
BatchMoments moments_of_shared_batch(const Tensor& x);

}  // namespace weyl
