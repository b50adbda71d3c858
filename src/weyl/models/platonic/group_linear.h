#pragma once

#include "weyl/models/platonic/options.h"
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
/// ~ U(-1/sqrt(G I), 1/sqrt(G I)), whatever the form. Spectral: x goes to irreps and back, with one product for each
/// (appendix N). What follows from `kernel`, the dense matrix or the blocks of irreps, is made once in evaluation mode,
/// unless `kernel` is to get a gradient (nn/derived.h).
class GroupLinear : public Module {
 public:
  /// in = G I and out = G O are totals; ConfigError unless both are multiples of G. `form`: what a
  /// model has resolved; dense where it is automatic.
  GroupLinear(GroupTablesPtr tables, int64_t in, int64_t out, LinearForm form = LinearForm::dense,
              bool bias = true);
  Tensor operator()(const Tensor& x) const;

  const Tensor& kernel() const { return kernel_; }  // (G, O, I)
  const Tensor& bias() const { return bias_; }      // (O), for ops that add it themselves
  const GroupTables& tables() const { return *tables_; }
  Tensor without_bias(const Tensor& x) const;
  /// x (N, G I) as what the products read: itself, or its planes (ops/frames/group_fourier.h), of float32 at least.
  std::vector<Tensor> function_of(const Tensor& x) const;
  /// The products alone: (N, G O) without the bias, or its planes. Under autocast of its type.
  std::vector<Tensor> products(const std::vector<Tensor>& x) const;
  /// Whether it goes by irreps now: not under UseReferences, of which the dense matrix is the definition.
  bool by_irreps() const;

  /// Of one token as worked out in a form. Spectral: one product for each irrep, x to irreps, and the result back.
  /// `factors`: 1 where the input depends on no parameter; `transforms_input`: false where another map has already
  /// transformed the same x.
  Work work(LinearForm form, double factors = 2, bool transforms_input = true) const;

 protected:
  void mode_changed() override { matrices_.drop(); }

 private:
  /// The dense matrix (G O, G I) alone, or the blocks of irreps.
  std::vector<Tensor> matrices() const;

  GroupTablesPtr tables_;
  int64_t in_, out_;
  LinearForm form_;
  Tensor kernel_, bias_;
  DerivedTensors matrices_;
};

/// Two of them with an activation between, children `0` and `2`.
class GroupMlp : public Module {
 public:
  GroupMlp(const GroupTablesPtr& tables, int64_t in, int64_t hidden, int64_t out, LinearForm form);
  Tensor operator()(const Tensor& x) const;  // exact GELU
  Work work(LinearForm form) const { return first_->work(form) + second_->work(form); }

 private:
  std::shared_ptr<GroupLinear> first_, second_;
};

}  // namespace weyl::platonic
