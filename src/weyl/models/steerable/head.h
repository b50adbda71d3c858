#pragma once

#include "weyl/models/steerable/options.h"
#include "weyl/models/steerable/stage.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/norms.h"

namespace weyl::steerable {

/// Lengths of steerable features, which nothing turns: in the plane of each channel over all orders, (B, C,
/// pixels...), in space of each copy of an irrep, (B, S, pixels...), or `joint` as in the plane (all degrees
/// have the same channels).
Tensor invariants(const Tensor& x, const SteerableType& type, bool joint);
int64_t invariants_of(const SteerableType& type, bool joint);

/// The head of a whole grid: an optional convolution without padding, lengths, their mean over the pixels, and an MLP
/// with batch norm, ELU and dropout. (B, 2 F, pixels...) -> (B, outputs).
class ClassificationHead : public Module {
 public:
  ClassificationHead(const Options& options, const SteerableType& type, int64_t outputs);
  Tensor operator()(const Tensor& x) const;
  /// Of a grid, of so many pixels after the convolution.
  Work work(double pixels) const;

 private:
  SteerableType type_;
  double dropout_;
  std::shared_ptr<Conv> conv_;
  std::shared_ptr<weyl::Linear> first_, last_;
  std::shared_ptr<weyl::BatchNorm> norm_;
};

/// The head of each pixel: the features to the input's size by linear interpolation, lengths over all irreps, and a
/// learned `scale` and `bias` of each output. (B, 2 F, pixels...) -> (B, outputs, sizes...).
class SegmentationHead : public Module {
 public:
  SegmentationHead(const Options& options, const SteerableType& type, int64_t outputs);
  Tensor operator()(const Tensor& x, at::IntArrayRef sizes) const;

 private:
  SteerableType type_;
  int64_t outputs_;
  Tensor scale_, bias_;
};

}  // namespace weyl::steerable
