#pragma once

#include "weyl/nn/activation.h"
#include "weyl/nn/linear.h"

namespace weyl {

/// y = W2 act(W1 x + b1) + b2. Children `0` and `2`, as in a torch Sequential.
class Mlp : public Module {
 public:
  Mlp(int64_t in, int64_t hidden, int64_t out, Activation law = Activation::gelu,
      LinearInit init = LinearInit::torch);
  Tensor operator()(const Tensor& x) const;
  /// y - b2 for x (N, I), for callers that add b2 with something else. The first bias and the activation take one pass.
  Tensor without_bias(const Tensor& x) const;
  const Tensor& output_bias() const { return second_->bias(); }

 private:
  Activation law_;
  std::shared_ptr<Linear> first_, second_;
};

}  // namespace weyl
