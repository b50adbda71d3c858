#pragma once

#include "weyl/models/lie/block.h"
#include "weyl/models/model.h"
#include "weyl/nn/mlp.h"

namespace weyl::lie {

/// Lie-Algebra Attention: tokens are elements g_i of a Lie group. Their first features are equal (one learned
/// vector, plus a linear map of the token's scalars if there are any), and all they ever see of the poses is
/// w_ij = log(g_i^-1 g_j), which no left multiplication changes. Variants G, C and A: see Variant.
///
/// Outputs of tokens: scalars, by a linear map of the final features; scalars of role `offset` with as many
/// channels as the algebra has dimensions, the orthonormal coordinates delta_i of a correction, by a network
/// of two layers; and elements (N, m, m), g_i exp(delta_i), likewise (eq. 5 of the paper, the local form).
///
/// With move_tokens a correction counts from the token as given; ShapeError where, in an affine group, moves
/// and correction together have no logarithm (an element needs none).
///
/// Children: score (G, C), start or embedding (A), [features], blocks.<i>, [move.<i>], norm, head.<output>.
/// Exact: left multiplications (G, C) and node order. ConfigError: outputs of another kind or level.
class Transformer : public PosesModel {
 public:
  using Options = lie::Options;
  Transformer(const Options& options, const Interface& interface);
  Named forward(const Poses& poses) override;
  Symmetry symmetry() const override;
  Work work() const override;

  const Options options;

 private:
  Tensor embedded(const Poses& poses) const;          // h (N, d)
  Tensor factor_of(const Tensor& orthonormal) const;  // exp, (N, E) -> (N, compact)
  Tensor coordinates_of(const Tensor& factor) const;  // and back

  int64_t scalars_ = 0;
  std::shared_ptr<Score> score_;
  Tensor initial_;
  std::shared_ptr<Linear> features_, embedding_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::vector<std::shared_ptr<Linear>> moves_;
  std::shared_ptr<LayerNorm> norm_;
  std::vector<std::shared_ptr<Module>> heads_;  // Linear or Mlp, in the order of the outputs
};

}  // namespace weyl::lie
