#pragma once

#include "weyl/models/features.h"
#include "weyl/models/platonic/group_linear.h"
#include "weyl/ops/frames/lifted_fourier.h"

namespace weyl::platonic {

/// The first layer: features lifted to functions on the group (lift.h), and a GroupLinear map of these without bias. By
/// irreps it multiplies those blocks alone in which lifted features are not zero (ops/frames/lifted_fourier.h), all of them
/// where the group's matrices are rounded (`authors_tables`).
class Embedder : public GroupLinear {
 public:
  /// `columns`: of the features, at least one.
  Embedder(GroupTablesPtr tables, InputColumns columns, int64_t width, LinearForm form);

  /// scalars (N, S), vectors (N, V, D), undefined when there are none -> (N, G C).
  Tensor embedded(const Tensor& scalars, const Tensor& vectors) const;

  /// Of one token with its lift. The input depends on no parameter.
  Work work_of_token(LinearForm form) const;

 protected:
  void mode_changed() override;

 private:
  InputColumns columns_;
  std::shared_ptr<const LiftedFourier> lifted_;  // null: dense, or not exact
  DerivedTensors blocks_;
};

}  // namespace weyl::platonic
