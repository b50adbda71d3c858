#pragma once

#include "weyl/models/work.h"
#include "weyl/nn/activation.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/module.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl::platonic {

using GroupTablesPtr = std::shared_ptr<const GroupTables>;

/// A linear map of functions on a group that commutes with left translation (paper, eq. 8):
///   y(h) = sum_g kernel[g^-1 h] x(g) + bias,   x (N, G I) -> y (N, G O), frames first.
/// Parameters `kernel` (G, O, I) ~ N(0, 1/(G I)), which decays, and `bias` (O), shared by the frames,
/// ~ U(-1/sqrt(G I), 1/sqrt(G I)). In evaluation mode the dense matrix is expanded once, unless `kernel` is to get a
/// gradient (nn/derived.h).
class GroupLinear : public Module {
 public:
  /// in = G I and out = G O are totals; ConfigError unless both are multiples of G.
  GroupLinear(GroupTablesPtr tables, int64_t in, int64_t out, bool bias = true);
  Tensor operator()(const Tensor& x) const;

  const Tensor& kernel() const { return kernel_; }  // (G, O, I)
  const Tensor& bias() const { return bias_; }      // (O), for ops that add it themselves
  Tensor dense() const;                             // (G O, G I)
  Tensor without_bias(const Tensor& x) const;

  /// Of one token; `factors`: 1 where the input depends on no parameter.
  Work work(double factors = 2) const { return Work::product(static_cast<double>(in_ * out_), factors); }

 protected:
  void mode_changed() override { expanded_.drop(); }

 private:
  GroupTablesPtr tables_;
  int64_t in_, out_;
  Tensor kernel_, bias_;
  Derived expanded_;
};

/// Two of them with an activation between, children `0` and `2`.
class GroupMlp : public Module {
 public:
  GroupMlp(const GroupTablesPtr& tables, int64_t in, int64_t hidden, int64_t out);
  Tensor operator()(const Tensor& x) const;  // exact GELU
  Work work() const { return first_->work() + second_->work(); }

 private:
  std::shared_ptr<GroupLinear> first_, second_;
};

}  // namespace weyl::platonic
