#pragma once

#include "weyl/models/steerable/attention.h"
#include "weyl/models/steerable/layer.h"
#include "weyl/models/steerable/linear.h"
#include "weyl/models/steerable/options.h"

namespace weyl::steerable {

/// y = W2 act(W1 x), irrep by irrep at every pixel (paper, 3.3), act on lengths with biases.
class Mlp : public Layer {
 public:
  Mlp(const SteerableType& type, const Options& options);
  Tensor operator()(const Tensor& x) const override;
  Work work() const override { return first_->work() + second_->work(); }

 private:
  std::shared_ptr<Linear> first_, second_;
  std::shared_ptr<Layer> activation_;
};

/// x += attention(norm x); x += MLP(norm x) (paper, section 3 and figure 1). Without attention the MLP alone.
class Block : public Layer {
 public:
  Block(const SteerableType& type, const Options& options);
  Tensor operator()(const Tensor& x) const override;
  /// Of a pixel of so many.
  Work work_among(double tokens) const {
    return (attention_ ? attention_->work(tokens) : Work()) + mlp_->work();
  }

 private:
  std::shared_ptr<Layer> norm1_, norm2_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<Mlp> mlp_;
};

/// The blocks, and a norm after them.
class Encoder : public Layer {
 public:
  Encoder(const SteerableType& type, const Options& options);
  Tensor operator()(const Tensor& x) const override;
  /// Of all pixels of a grid of so many.
  Work work_of_grid(double tokens) const;

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<Layer> norm_;
};

}  // namespace weyl::steerable
