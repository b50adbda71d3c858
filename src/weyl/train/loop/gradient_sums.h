#pragma once

#include <memory>
#include <vector>

#include "weyl/nn/module.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// The gradients of several ranks, each of which has a part of every batch, added up while the backward pass still runs.
///
/// Gradients are summed in buckets whose borders follow from the parameters alone (parallel/shares.h), the last parameters
/// first, and always in that order, so that as many ranks give the same bits each time. A parameter that some ranks do not
/// use counts as zero there; one that none uses keeps no gradient. They are summed where they are, on a card, too; what else
/// is told is told on the CPU, for which the card is waited for.
class GradientSums {
 public:
  static constexpr int64_t bucket_bytes = int64_t{4} << 20;  // recorded with a run: sums depend on it

  /// `parameters`: of the model, in their order, the same on all ranks; those without gradient are passed over. `at_once`: send
  /// while the backward pass runs, which needs that nothing else is summed there (nn/shared_batch.h).
  GradientSums(std::shared_ptr<Ranks> ranks, const std::vector<Parameter>& parameters,
               int64_t bucket = bucket_bytes, bool at_once = true);
  const std::shared_ptr<Ranks>& ranks() const;
  ~GradientSums();
  GradientSums(const GradientSums&) = delete;
  GradientSums& operator=(const GradientSums&) = delete;

  /// The numbers of all ranks added, for terms of a loss that divide by them: () each, float64. A rank without samples
  /// gives none and gets those of the others, at most `most_terms`.
  static constexpr int64_t most_terms = 1024;
  std::vector<Tensor> whole(const std::vector<Tensor>& numbers);

  /// To be called before the last backward pass of a step, and on a rank that has none: from here on each gradient is taken
  /// as it is done.
  void begin();
  /// Waits for all sums; the parameters' gradients are then those of all ranks. Returns the sum of `loss`, () float64. The
  /// numbers `told` of all ranks are added, too, and stand in `told` then: what ranks agree on at each step.
  Tensor finish(const Tensor& loss);
  std::vector<double> told;

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
};

}  // namespace weyl
