#pragma once

#include <optional>
#include <vector>

#include "weyl/models/gatr/options.h"
#include "weyl/nn/module.h"
#include "weyl/ops/multivectors/attention.h"
#include "weyl/ops/multivectors/options.h"

namespace weyl::gatr {

/// Multivectors (16, N, C) and auxiliary scalars (N, S) of the same nodes: what every layer takes and gives.
using Streams = MultivectorsAndScalars;

/// How an EquiLinear starts: so that variances stay about as they are; ten times smaller; or with scalar parts near 1
/// (closely, loosely), so that a product with its result is near the other factor.
enum class EquiInit { normal, small, unit_scalar, almost_unit_scalar };

/// Channels in and out: multivectors, and auxiliary scalars where there are any.
struct EquiChannels {
  int64_t in = 1, out = 1;
  std::optional<int64_t> in_scalars, out_scalars;
};

/// The most general linear map of multivectors X and scalars s that commutes with Pin(3,0,1) (Geometric Algebra
/// Transformer, eq. 5; ops/multivectors/grade_linear.h):
///   Y = sum_a W_a B_a X + [scalar part] (W_s s + b),   t = W_m X_0 + W_t s + c.
/// Parameters, named and laid out as the authors': `weight` (O, I, 9); `bias` (O, 1) where no scalars come in, which
/// starts at zero, `s2mvs.{weight,bias}` where they do; `mvs2s.{weight,bias}` and `s2s.weight` where scalars go out.
/// Matrices decay. Initial values are uniform, of the authors' widths. ConfigError: no multivectors in;
/// scalar parts near 1 without scalars in, whose bias they are.
class EquiLinear : public Module {
 public:
  explicit EquiLinear(const EquiChannels& channels, EquiInit init = EquiInit::normal);

  /// Without multivectors or scalars out they are undefined. ShapeError where scalars come in, and `x` has none.
  Streams operator()(const Streams& x) const;

  const EquiChannels& channels() const { return channels_; }
  /// Of one token, a multiply-add counting two: 24 for a pair of multivector channels.
  double flops() const;
  /// Of one token of training, as the scaling study counts: 6 for each weight, and a pair of multivector channels as a
  /// dense 16 x 16 map.
  double nominal_flops() const;

 private:
  friend Tensor joint_multivectors(const std::vector<const EquiLinear*>& maps, const Streams& x);

  void declare_multivectors(EquiInit init);
  void declare_scalars(EquiInit init);
  /// Of a map for multivectors and one for scalars, times those of training a weight and a pair of channels.
  double weighted(double of_weight, double of_pair) const;

  EquiChannels channels_;
  Tensor weight_, bias_, s2mvs_weight_, s2mvs_bias_, mvs2s_weight_, mvs2s_bias_, s2s_weight_;
};

/// The multivectors that several maps give of the same input, side by side: (16, N, sum of O), by one product. All of
/// them read scalars, or none does.
Tensor joint_multivectors(const std::vector<const EquiLinear*>& maps, const Streams& x);

/// The norm before each branch of a block, without parameters: multivectors by the root of the mean over channels of
/// <x, x>, at least 0.1 (ops/multivectors/norm.h), scalars by a layer norm.
Streams normalised(const Streams& x);

/// Each multivector times an activation of its own scalar part (gelu by the tanh formula), each scalar's activation
/// (gelu by erf, as the authors have it).
Streams gated(const Streams& x, MultivectorGate activation);

/// Dropout that commutes with Pin(3,0,1): of each node and channel every one of the five grades is zeroed as one with
/// probability `rate`, of the scalars each number; what is left is scaled by 1 / (1 - rate). Draws from torch's
/// generator; x itself where the rate is 0.
Streams drop_grades(const Streams& x, double rate);

/// The bilinear layer (Geometric Algebra Transformer, sec. 3.2): in half of O hidden channels geometric products, in the
/// other half joins, of linear maps of the same input, then a linear map of them and of the input scalars:
///   Y = W [ L X . R X,  reference J(A X, B X) ].
/// Children linear_left, linear_right (which starts near 1), linear_join_left, linear_join_right, linear_out.
/// ConfigError unless `channels.out` is even.
class Bilinear : public Module {
 public:
  explicit Bilinear(const EquiChannels& channels);
  /// reference (N): component e123 of a multivector of each node's graph.
  Streams operator()(const Streams& x, const Tensor& reference) const;
  double flops() const;  // of one token; 192 terms of a product and 81 of a join
  double nominal_flops() const;

 private:
  std::shared_ptr<EquiLinear> left_, right_, join_left_, join_right_, out_;
};

/// The feed-forward part of a block: the bilinear layer to twice the channels, the gated nonlinearity, a linear map
/// back; in training `dropout` after both layers. Children layers.0 and layers.2, as the authors number them without
/// dropout.
class GeometricMlp : public Module {
 public:
  explicit GeometricMlp(const Options& options);
  Streams operator()(const Streams& x, const Tensor& reference) const;
  double flops() const { return bilinear_->flops() + linear_->flops(); }  // of one token
  double nominal_flops() const { return bilinear_->nominal_flops() + linear_->nominal_flops(); }

 private:
  MultivectorGate activation_;
  double dropout_;
  std::shared_ptr<Bilinear> bilinear_;
  std::shared_ptr<EquiLinear> linear_;
};

}  // namespace weyl::gatr
