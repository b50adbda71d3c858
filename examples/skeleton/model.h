#pragma once

#include <weyl/models/features.h>
#include <weyl/models/model.h>

#include "block.h"

namespace skeleton {

/// A transformer that sees distances alone, and pulls nodes along the lines between them:
///
///   h = blocks(scalars, v_a . v_b),
///   y_i = sum_j p(h_i, h_j, shells_ij) (x_j - x_i) / n + sum_a r_a(h_i) v_ia
///
/// with n the typical number of nodes. Exact under O(D), translations and permutations, without a frame. It
/// gives vectors of nodes.
class Skeleton : public weyl::PointsModel {
 public:
  using Options = SkeletonOptions;
  Skeleton(const SkeletonOptions& options, const weyl::Interface& interface);
  weyl::Named forward(const weyl::Points& points) override;
  weyl::Symmetry symmetry() const override;
  weyl::Work work(double nodes) const override;

  const SkeletonOptions options;

 private:
  weyl::InputColumns columns_;
  int64_t inputs_ = 0, outputs_ = 0;
  std::shared_ptr<weyl::Linear> in_, turn_;
  std::vector<std::shared_ptr<DistanceBlock>> blocks_;
  std::shared_ptr<weyl::Mlp> pull_;
};

}  // namespace skeleton
