#pragma once

#include <memory>

#include "weyl/models/steerable/layer.h"
#include "weyl/models/steerable/linear.h"
#include "weyl/ops/frames/table_copies.h"

namespace weyl::steerable {

/// Clebsch-Gordan nonlinearity (Kondor et al. 2018), products of a feature with itself, channel by channel.
/// In the plane out_l = sum_{m = 0 .. l} w_{l m} x_m x_{l - m}; parameter `weight` (K (K + 1) / 2, C, 2)
/// complex, pairs in the order l, m. In space each degree is mapped to h = min C_l channels, all pairs of
/// degrees l1 <= l2 are coupled to every degree l that they reach (but l1 = l2 with l1 + l2 - l odd, whose
/// product of a feature with itself vanishes), and each degree is mapped back to its C_l channels.
class CgActivation : public Layer {
 public:
  /// ShapeError: in the plane orders with different channels.
  explicit CgActivation(const SteerableType& type);
  Tensor operator()(const Tensor& x) const override;
  Work work() const override;

 private:
  struct Pair {
    int64_t l1, l2;
    std::vector<int64_t> degrees;                 // that they are coupled to
    std::shared_ptr<const TableCopies> coupling;  // (sum of 2 l + 1, (2 l1 + 1)(2 l2 + 1))
    int64_t numbers = 0;                          // of that
  };
  Tensor in_the_plane(const Tensor& x) const;
  Tensor in_space(const Tensor& x) const;

  SteerableType type_;
  Tensor weight_;        // in the plane
  int64_t h_ = 0;        // in space, all below
  SteerableType inner_;  // (2l+1) h
  std::vector<Pair> pairs_;
  std::shared_ptr<Linear> in_, out_;
};

}  // namespace weyl::steerable
