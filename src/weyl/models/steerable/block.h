#pragma once

#include "weyl/models/steerable/attention.h"
#include "weyl/models/steerable/layer.h"
#include "weyl/models/steerable/linear.h"
#include "weyl/models/steerable/options.h"

namespace weyl {

/// y = W2 act(W1 x), irrep by irrep at every pixel (paper, 3.3), act on lengths with biases.
class SteerableMlp : public SteerableLayer {
 public:
  SteerableMlp(const SteerableType& type, const SteerableOptions& options);
  Tensor operator()(const Tensor& x) const override;

 private:
  std::shared_ptr<SteerableLinear> first_, second_;
  std::shared_ptr<SteerableLayer> activation_;
};

/// x += attention(norm x); x += MLP(norm x) (paper, section 3). Without attention the MLP alone.
class SteerableBlock : public SteerableLayer {
 public:
  SteerableBlock(const SteerableType& type, const SteerableOptions& options);
  Tensor operator()(const Tensor& x) const override;

 private:
  std::shared_ptr<SteerableLayer> norm1_, norm2_;
  std::shared_ptr<SteerableAttention> attention_;
  std::shared_ptr<SteerableMlp> mlp_;
};

/// The blocks, and a norm after them.
class SteerableEncoder : public SteerableLayer {
 public:
  SteerableEncoder(const SteerableType& type, const SteerableOptions& options);
  Tensor operator()(const Tensor& x) const override;

 private:
  std::vector<std::shared_ptr<SteerableBlock>> blocks_;
  std::shared_ptr<SteerableLayer> norm_;
};

}  // namespace weyl
