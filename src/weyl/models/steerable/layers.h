#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <cstdint>
#include <memory>
#include <vector>

#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/models/work.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/module.h"
#include "weyl/ops/frames/group_tables.h"
#include "weyl/ops/steerable/kernel.h"

namespace weyl::steerable {

/// From steerable features to steerable features, (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...).
class Layer : public Module {
 public:
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// Of a pixel: nothing, where numbers are worked on one by one.
  virtual Work work() const { return {}; }
};

/// Shape for one number a channel against x (B, channels, pixels...): (1, channels, 1, ...).
inline Tensor along_channels(const Tensor& values, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = values.size(0);
  return values.to(x.scalar_type()).view(shape);
}

/// Numbers of the standard normal law (shape) float64, from torch's generator of the CPU; where parameters
/// are shapes alone (BuildOn the meta device) a shape.
inline Tensor initial_normals(const std::vector<int64_t>& shape) {
  return BuildOn::device().is_meta()
             ? at::empty(shape, at::TensorOptions().device(at::kMeta).dtype(at::kDouble))
             : at::randn(shape, at::kDouble);
}

/// A complex matrix for each irrep, the same for all its components, at every pixel alone (paper,
/// section 3.1: W_Q, W_K, W_V, eqs. 10 to 12, and W_O; section 3.3: the layers of the MLP): y_{l m o} = sum_c W^l_{o c} x_{l m c}. No bias.
/// Parameter `weight` (n, 2) complex, in the order irrep, channel out, channel in; initialised as complex normal
/// numbers of variance 1 / channels in, so that features keep their size.
class Linear : public Module {
 public:
  /// ShapeError unless both types have one dimension and as many irreps, and each irrep channels.
  Linear(const SteerableType& in, const SteerableType& out);
  Tensor operator()(const Tensor& x) const;  // (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...)
  Work work() const;                         // of a pixel
  const SteerableType& in() const { return in_; }
  const SteerableType& out() const { return out_; }

 protected:
  void mode_changed() override;

 private:
  /// Irreps that are one matrix product: in the plane all whose channels are the same, in space one.
  struct Part {
    int64_t first, irreps, weight;  // first irrep, how many, first weight
  };
  Tensor matrices(const Part& part) const;  // (irreps, 2 C_out, 2 C_in), ((Re, -Im), (Im, Re))

  SteerableType in_, out_;
  std::vector<Part> parts_;
  Tensor weight_;
  std::vector<Derived> matrices_;  // of each part
};

struct ConvOptions {
  KernelOptions kernel;
  int64_t stride = 1, dilation = 1;
  bool same = true;  // zeros around, so that stride 1 keeps the size (odd kernels); false: the valid part
};

/// Steerable convolution (paper, section 2.4, eqs. 1 and 2 with the rotations in Fourier space, eq. 5; it turns features
/// by eq. 6), a correlation: y(x) = sum_p K(p) f(x + p), without a bias,
/// which no irrep but the trivial one has. (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...), see
/// SteerableType. Parameter `weight` (n, 2) complex, initialised as complex normal numbers so that features keep
/// their size. Two orders of evaluation with equal results, picked by cost: the expanded kernel (in
/// evaluation mode expanded once), or the fixed filters first and the mixing of channels after
/// (ops/steerable/conv.h).
class Conv : public Module {
 public:
  /// ShapeError: `same` with an even kernel; see also Kernel.
  Conv(const SteerableType& in, const SteerableType& out, const ConvOptions& options);
  Tensor operator()(const Tensor& x) const;
  /// The pixels of the result that see one of `seen` (B, 1, pixels...), which is 1 there and 0 elsewhere: likewise.
  Tensor reached(const Tensor& seen) const;
  /// Of a pixel of the result, as a dense convolution. `input_learns`: the input depends on parameters.
  Work work(bool input_learns = true) const;
  const SteerableType& in() const { return kernel_->in; }
  const SteerableType& out() const { return kernel_->out; }

 protected:
  void mode_changed() override { expanded_.drop(); }

 private:
  ConvOptions options_;
  std::shared_ptr<const Kernel> kernel_;
  Tensor weight_;
  Derived expanded_;
};

/// Acts on the length of each copy of an irrep alone (paper, 3.3): n = |f|, f <- f relu(n + b) / n, or f <- f
/// (gelu(n + b) - gelu(b)) / n: without the second term, which the paper leaves out, a bias of either sign
/// would blow up short vectors, whose direction is noise. Parameter `bias` (S), one for each copy of an
/// irrep, initialised at `init`, zero or less for ReLU's sake, which blows them up above zero; training may
/// take it there.
class NormActivation : public Layer {
 public:
  enum class Law { relu, gelu };
  NormActivation(const SteerableType& type, Law law, double init = 0);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Law law_;
  Tensor bias_;
};

/// Gates (Weiler et al. 2018): f <- f sigmoid(gate), a gate for each copy of an irrep. Features carry them as
/// (S + 1) / 2 more channels of the trivial irrep, real parts the first gates, imaginary parts the others. No
/// parameters.
class GatedActivation : public Layer {
 public:
  explicit GatedActivation(const SteerableType& out);
  const SteerableType& in() const { return in_; }  // `out` with the gates' channels, the last trivial ones
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType in_, out_;
};

/// `joint`: f / |f| over all irreps of a channel (paper, section 3.4, whose equation has no number; all irreps have the
/// same channels); `irrep`:
/// irrep by irrep (as the authors' code has it in space). No parameters. `layer`: by the root mean square of
/// the lengths of all irreps at the pixel, each with its multiplicity, and a parameter `weight` (S), which
/// keeps what is strong. Zero stays zero.
class Norm : public Layer {
 public:
  enum class Law { joint, irrep, layer };
  Norm(const SteerableType& type, Law law);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Law law_;
  Tensor weight_;
};

/// Batch norm that turns: each copy of an irrep by the root of its mean square over batch, pixels and
/// components, then times `weight` (S); the trivial irrep's also plus `bias` (C_0, 2), complex. In training
/// by the batch, of all ranks where it is shared (nn/shared_batch.h), and kept as `mean_square` (S, no trainable parameter, momentum 0.1), in evaluation by that.
class BatchNorm : public Layer {
 public:
  explicit BatchNorm(const SteerableType& type);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Tensor weight_, bias_, mean_square_;
  std::vector<double> components_;  // of each copy
  std::vector<int64_t> copies_;     // (2 F): of each number of a pixel
};

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

using at::Tensor;

/// Averages over `size` pixels along each axis, (B, C, pixels...) -> (B, C, pixels / size...). What is left
/// over at the end is dropped, and then the pooling does not turn with the grid. ShapeError when nothing is
/// left. `low_pass`: of x smoothed as `smoothed` does for this spacing.
Tensor average_pool(const Tensor& x, int64_t size, bool low_pass = false);

/// x (B, C, pixels...) smoothed by an isotropic Gaussian whose standard deviation is half of `spacing`, in pixels of x, cut at
/// three of them, before a grid of this spacing is taken from it; at the borders by the part of the Gaussian that lies inside, so
/// that a constant stays one. Turns with the grid. x itself with a spacing of 1.
Tensor smoothed(const Tensor& x, int64_t spacing);

/// The pixels of `smoothed` and of `average_pool` that see one of `seen`, as Conv::reached has it.
Tensor reached_by_smoothing(const Tensor& seen, int64_t spacing);
Tensor reached_by_pool(const Tensor& seen, int64_t size, bool low_pass);

/// Linear interpolation to exactly these pixels, between the pixels' centres (half-pixel convention): it
/// turns with the grid whatever the sizes. (B, C, pixels...) -> (B, C, sizes...). x itself when it has them.
Tensor upsample(const Tensor& x, at::IntArrayRef sizes);

}  // namespace weyl::steerable
