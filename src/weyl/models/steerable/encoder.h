#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "weyl/models/steerable/layers.h"
#include "weyl/models/steerable/options.h"
#include "weyl/ops/steerable/options.h"
#include "weyl/ops/steerable/positions.h"

namespace weyl::steerable {

/// Steerable self-attention of all pixels of a grid (paper, sections 3.1 and 3.2): query, key, value and
/// output layers (Linear, C x C for each irrep), ops/steerable/attention.h between them, positional
/// vectors by offset. It turns with the grid under quarter turns and the 24 rotations of the cube.
///
/// Parameters `query`, `key`, `value`, `output`, and `key_positions`, `value_positions` (R, S, 2) complex, S
/// the multiplicity of all irreps, R = 1 or the distances of a table up to its reach (position_radii): all made at
/// construction, whatever the grid. Positions start as complex normal numbers of variance 1. Complex numbers
/// of irrep l with C channels: 4 C^2 + 2 C R.
class Attention : public Module {
 public:
  /// ShapeError: heads that do not divide the channels of each irrep; see also position_radii.
  Attention(const SteerableType& type, const AttentionOptions& options);
  /// (B, 2 F, pixels...), likewise. `taking_part` (B, pixels...) bool: the pixels that attend and are attended to, the
  /// others' result is zero; undefined: all.
  Tensor operator()(const Tensor& x, const Tensor& taking_part = {}) const;
  /// The softmax of each pixel over all of them, (B, heads, N, N).
  Tensor weights(const Tensor& x, const Tensor& taking_part = {}) const;
  Work work(double tokens) const;  // of one of so many
  const SteerableType& type() const { return query_->in(); }

 private:
  std::shared_ptr<const Positions> positions(const std::vector<int64_t>& grid) const;
  /// Queries, keys, values and the weights of positional vectors, as ops/steerable/attention.h takes them.
  Tensors inputs(const Tensor& x) const;

  AttentionOptions options_;
  double scale_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
  Tensor key_positions_, value_positions_;  // undefined without positions
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int64_t>, std::shared_ptr<const Positions>> of_grids_;
};

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
class Block : public Module {
 public:
  Block(const SteerableType& type, const Options& options);
  Tensor operator()(const Tensor& x, const Tensor& taking_part = {}) const;
  /// Attention::weights of the block; undefined without attention.
  Tensor weights(const Tensor& x, const Tensor& taking_part) const;
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
class Encoder : public Module {
 public:
  Encoder(const SteerableType& type, const Options& options);
  Tensor operator()(const Tensor& x, const Tensor& taking_part = {}) const;
  /// The largest of each pixel's weights, (B, heads, pixels...), of each block with attention.
  std::vector<Tensor> attention_maps(const Tensor& x, const Tensor& taking_part) const;
  /// Of all pixels of a grid of so many.
  Work work_of_grid(double tokens) const;

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<Layer> norm_;
};

}  // namespace weyl::steerable
