#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "weyl/models/grids/options.h"
#include "weyl/models/work.h"
#include "weyl/nn/module.h"

namespace weyl::grids {

/// Cells along the axes of a grid.
using Cells = std::vector<int64_t>;

/// Those that a convolution of this stride leaves: cell j of the result stands where cell j stride of the input does.
Cells after(const Cells& cells, const std::vector<int64_t>& stride);
double count_of(const Cells& cells);

/// A correlation with zeros around, (B, I, cells...) -> (B, O, after(cells, stride)...). Parameters `weight` (O, I,
/// kernel...) (decays), normal with variance 2 / (1.0001 I taps), after He et al. 2015 for leaky ReLU; `bias` (O) of the
/// last convolution of a net alone: before a norm it would do nothing.
class Conv : public Module {
 public:
  Conv(int64_t in, int64_t out, const std::vector<int64_t>& kernel, const std::vector<int64_t>& stride,
       bool bias = false);
  Tensor operator()(const Tensor& x) const;
  /// On an input of so many cells. `input_learns`: it depends on parameters.
  Work work_on(const Cells& cells, bool input_learns = true) const;

 private:
  std::vector<int64_t> stride_, padding_;
  Tensor weight_, bias_;
};

/// The transposed convolution whose kernel is its stride, so that each cell becomes a block of `stride` cells, (B, I,
/// cells...) -> (B, O, stride cells...). Parameter `weight` (I, O, stride...) (decays).
class Upsample : public Module {
 public:
  Upsample(int64_t in, int64_t out, const std::vector<int64_t>& stride);
  Tensor operator()(const Tensor& x) const;
  Work work_on(const Cells& cells) const;

 private:
  std::vector<int64_t> stride_;
  Tensor weight_;
};

/// y = weight (x - mean) / sqrt(var + 1e-5) + bias, channel by channel, in float32 at least; mean and variance over the
/// cells of each sample (instance; Ulyanov et al. 2016), or over those of the batch (batch; Ioffe and Szegedy 2015),
/// which go into `running_mean` and `running_var` (C, not trainable) with momentum 0.1 and are used in evaluation, and in
/// training where the batch has one cell or none; of a batch that ranks share over that of all (nn/shared_batch.h). Parameters `weight`, `bias` (C).
class ChannelNorm : public Module {
 public:
  ChannelNorm(int64_t channels, NormLaw law);
  /// ShapeError: instance norms of grids of one cell, whose variance is zero.
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor shared_batch_norm(const Tensor& x) const;

  Tensor weight_, bias_, mean_, var_;
};

/// conv, norm, activation, conv, norm, activation; the first convolution has the stride. Residual (He et al. 2016): what
/// came in, where channels or cells change by a convolution of kernel 1 and a norm, is added before the last activation.
/// All activations are leaky ReLU of slope 0.01. Children conv1, norm1, conv2, norm2; conv_skip, norm_skip.
class Block : public Module {
 public:
  Block(int64_t in, int64_t out, const std::vector<int64_t>& kernel, const std::vector<int64_t>& stride,
        NormLaw norm, bool residual);
  Tensor operator()(const Tensor& x) const;
  Work work_on(const Cells& cells, bool input_learns = true) const;

 private:
  std::vector<int64_t> stride_;
  bool residual_;
  std::shared_ptr<Conv> first_, second_, skip_;
  std::shared_ptr<ChannelNorm> first_norm_, second_norm_, skip_norm_;
};

/// The stages of an encoder, blocks one after the other: children stages.<s>.<block>.
class Encoder : public Module {
 public:
  Encoder(int64_t in, int64_t base, const std::vector<Stage>& stages, int64_t dimension, NormLaw norm,
          bool residual);
  /// What each stage gives, the finest first.
  std::vector<Tensor> operator()(const Tensor& x) const;
  int64_t channels(size_t stage) const { return channels_of(base_, stage, dimension_); }
  /// Of all stages; `cells` become those of the stages, the finest first.
  Work work_on(const Cells& input, std::vector<Cells>& cells) const;
  /// Cells of an input of `side` along each axis, or of one of whose cells the last stage has one left.
  Cells input_of(int64_t side) const;

 private:
  int64_t base_, dimension_;
  std::vector<Stage> options_;
  std::vector<std::vector<std::shared_ptr<Block>>> stages_;
};

}  // namespace weyl::grids
