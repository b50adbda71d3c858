#include "weyl/models/grids/layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/conv_transpose3d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/nn/shared_batch.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::grids {
namespace {

constexpr double slope = 0.01, epsilon = 1e-5, momentum = 0.1;

Tensor activated(const Tensor& x) {
  return at::leaky_relu(x, slope);
}

/// (first, second, taps...)
std::vector<int64_t> shape_of(int64_t first, int64_t second, const std::vector<int64_t>& taps) {
  std::vector<int64_t> shape{first, second};
  shape.insert(shape.end(), taps.begin(), taps.end());
  return shape;
}

/// Keeps the size of features through a leaky ReLU, of sums over so many numbers.
Init he_normal(double numbers) {
  return Init::normal(std::sqrt(2 / ((1 + slope * slope) * numbers)));
}

}  // namespace

Cells after(const Cells& cells, const std::vector<int64_t>& stride) {
  Cells result;
  for (size_t a = 0; a < cells.size(); ++a) {
    result.push_back((cells[a] + stride[a] - 1) / stride[a]);
  }
  return result;
}

double count_of(const Cells& cells) {
  double product = 1;
  for (const int64_t n : cells) {
    product *= static_cast<double>(n);
  }
  return product;
}

Conv::Conv(int64_t in, int64_t out, const std::vector<int64_t>& kernel, const std::vector<int64_t>& stride,
           bool bias)
    : stride_(stride) {
  for (const int64_t k : kernel) {
    padding_.push_back((k - 1) / 2);
  }
  weight_ = parameter("weight", shape_of(out, in, kernel),
                      he_normal(static_cast<double>(in) * count_of(kernel)), /*decay=*/true);
  if (bias) {
    bias_ = parameter("bias", {out}, Init::zeros());
  }
}

Tensor Conv::operator()(const Tensor& x) const {
  return stride_.size() == 2 ? at::conv2d(x, weight_, bias_, stride_, padding_)
                             : at::conv3d(x, weight_, bias_, stride_, padding_);
}

Work Conv::work_on(const Cells& cells, bool input_learns) const {
  return Work::product(count_of(after(cells, stride_)) * static_cast<double>(weight_.numel()),
                       input_learns ? 2 : 1);
}

Upsample::Upsample(int64_t in, int64_t out, const std::vector<int64_t>& stride) : stride_(stride) {
  weight_ =
      parameter("weight", shape_of(in, out, stride), he_normal(static_cast<double>(in)), /*decay=*/true);
}

Tensor Upsample::operator()(const Tensor& x) const {
  return stride_.size() == 2 ? at::conv_transpose2d(x, weight_, {}, stride_)
                             : at::conv_transpose3d(x, weight_, {}, stride_);
}

Work Upsample::work_on(const Cells& cells) const {
  return Work::product(count_of(cells) * static_cast<double>(weight_.numel()));
}

ChannelNorm::ChannelNorm(int64_t channels, NormLaw law) {
  weight_ = parameter("weight", {channels}, Init::ones());
  bias_ = parameter("bias", {channels}, Init::zeros());
  if (law == NormLaw::batch) {
    mean_ = parameter("running_mean", at::zeros({channels}, at::kDouble), false, /*trainable=*/false);
    var_ = parameter("running_var", at::ones({channels}, at::kDouble), false, /*trainable=*/false);
  }
}

Tensor ChannelNorm::operator()(const Tensor& features) const {
  const Tensor x = widened(features);
  const int64_t channels = weight_.size(0);
  if (mean_.defined()) {
    if (training() && SharedBatch::active()) {
      return shared_batch_norm(x);
    }
    const bool own = training() && x.numel() > channels;
    return at::batch_norm(x, weight_, bias_, mean_, var_, own, momentum, epsilon, /*cudnn_enabled=*/false);
  }
  require(x.numel() != x.size(0) * channels || x.size(0) == 0,
          "model input: an instance norm needs two cells at least, got one behind the strides: take a larger "
          "grid or fewer strides");
  return at::group_norm(x, channels, weight_, bias_, epsilon, /*cudnn_enabled=*/false);
}

Tensor ChannelNorm::shared_batch_norm(const Tensor& x) const {
  const BatchMoments moments = moments_of_shared_batch(x.transpose(0, 1).flatten(1));
  Tensor mean = mean_.detach(), var = var_.detach();
  if (moments.count > 1) {
    mean = moments.mean;
    var = moments.variance;
    const at::NoGradGuard constant;
    mean_.detach().mul_(1 - momentum).add_(mean.detach(), momentum);
    var_.detach().mul_(1 - momentum).add_(var.detach(), momentum * moments.count / (moments.count - 1));
  }
  const Tensor factor = weight_.to(at::kDouble) * (var.to(at::kDouble) + epsilon).rsqrt();
  const Tensor shift = bias_.to(at::kDouble) - mean.to(at::kDouble) * factor;
  std::vector<int64_t> along(static_cast<size_t>(x.dim()), 1);
  along[1] = -1;
  return x * factor.to(x.scalar_type()).view(along) + shift.to(x.scalar_type()).view(along);
}

Block::Block(int64_t in, int64_t out, const std::vector<int64_t>& kernel, const std::vector<int64_t>& stride,
             NormLaw norm, bool residual)
    : stride_(stride), residual_(residual) {
  const std::vector<int64_t> one(stride.size(), 1);
  const auto conv = [&](const char* name, int64_t from, const auto& taps, const auto& step) {
    return child(name, std::make_shared<Conv>(from, out, taps, step));
  };
  const auto norm_of = [&](const char* name) {
    return child(name, std::make_shared<ChannelNorm>(out, norm));
  };
  first_ = conv("conv1", in, kernel, stride);
  first_norm_ = norm_of("norm1");
  second_ = conv("conv2", out, kernel, one);
  second_norm_ = norm_of("norm2");
  if (residual && (in != out || stride != one)) {
    skip_ = conv("conv_skip", in, one, stride);
    skip_norm_ = norm_of("norm_skip");
  }
}

Tensor Block::operator()(const Tensor& x) const {
  const Tensor y = (*second_norm_)((*second_)(activated((*first_norm_)((*first_)(x)))));
  if (!residual_) {
    return activated(y);
  }
  return activated(y + (skip_ ? (*skip_norm_)((*skip_)(x)) : x));
}

Work Block::work_on(const Cells& cells, bool input_learns) const {
  Work work = first_->work_on(cells, input_learns) + second_->work_on(after(cells, stride_));
  return skip_ ? work + skip_->work_on(cells, input_learns) : work;
}

Encoder::Encoder(int64_t in, int64_t base, const std::vector<Stage>& stages, int64_t dimension, NormLaw norm,
                 bool residual)
    : base_(base), dimension_(dimension), options_(stages) {
  const std::vector<int64_t> one(static_cast<size_t>(dimension), 1);
  for (size_t s = 0; s < stages.size(); ++s) {
    stages_.emplace_back();
    const auto kernel = along_axes(stages[s].kernel, dimension),
               stride = along_axes(stages[s].stride, dimension);
    for (int64_t b = 0; b < stages[s].blocks; ++b) {
      stages_.back().push_back(
          child(text("stages.", s, ".", b),
                std::make_shared<Block>(in, channels(s), kernel, b == 0 ? stride : one, norm, residual)));
      in = channels(s);
    }
  }
}

std::vector<Tensor> Encoder::operator()(const Tensor& x) const {
  std::vector<Tensor> results;
  Tensor y = x;
  for (const auto& stage : stages_) {
    for (const auto& block : stage) {
      y = (*block)(y);
    }
    results.push_back(y);
  }
  return results;
}

Work Encoder::work_on(const Cells& input, std::vector<Cells>& cells) const {
  Work work;
  Cells now = input;
  for (size_t s = 0; s < stages_.size(); ++s) {
    for (size_t b = 0; b < stages_[s].size(); ++b) {
      work += stages_[s][b]->work_on(now, /*input_learns=*/s + b > 0);
      if (b == 0) {
        now = after(now, along_axes(options_[s].stride, dimension_));
      }
    }
    cells.push_back(now);
  }
  return work;
}

Cells Encoder::input_of(int64_t side) const {
  Cells least(static_cast<size_t>(dimension_), 1);
  for (const Stage& stage : options_) {
    const auto stride = along_axes(stage.stride, dimension_);
    for (size_t a = 0; a < least.size(); ++a) {
      least[a] *= stride[a];
    }
  }
  for (int64_t& n : least) {
    n = std::max(n, side);
  }
  return least;
}

}  // namespace weyl::grids
