#pragma once

#include "weyl/core/segments.h"
#include "weyl/models/lie/attention.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/model.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/mlp.h"
#include "weyl/nn/norms.h"

namespace weyl::lie {

/// The stream of a block: h (N, d) and its layer norm by whatever reads it next.
struct Stream {
  Tensor h, normed;
};

/// h <- h + W_O attention(LN h), h <- h + W_2 gelu(W_1 LN h) (paper, section 4.2, whose equations have no numbers). With
/// x = LN h, head by head:
///   G and C   o_i = sum_j a_ij W_V [x_j; w_ij], a_ij = softmax_j s_ij over j != i, with order = "causal" over j < i; a
///             token that sees none, as the first one then, has o_i = 0
///   A         o_i = sum_j a_ij W_V x_j, a_ij = softmax_j q_i . k_j / sqrt(d / H), j = i included (section 4.5)
/// Children: norm1, [query, key], value, out, norm2, ffn.0, ffn.2. Channels of a head are contiguous.
class Block : public Module {
 public:
  /// `pair_width`: the coordinates of w, 0 for A.
  Block(const Options& options, int64_t pair_width);

  const LayerNorm& entry_norm() const { return *norm1_; }
  /// `in.normed` is norm1 of `in.h`; the result's is `next` of its h. `score` is null for A.
  Stream operator()(const Stream& in, const LayerNorm& next, const LayerScore* score,
                    const Relations& relations, const Segments& graphs) const;
  /// Of one token that is scored with so many, scores of poses apart. `moved`: as in Score::work.
  Work work(double pairs, bool moved) const;

 private:
  Tensor attention(const Tensor& x, const LayerScore* score, const Relations& relations,
                   const Segments& graphs) const;

  int64_t width_, heads_, pair_width_, hidden_;
  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<Linear> query_, key_, value_, out_, first_, second_;
};

/// Lie-Algebra Attention: tokens are elements g_i of a Lie group. Their first features are equal (one learned
/// vector, plus a linear map of the token's scalars if there are any), and all they ever see of the poses is
/// w_ij = log(g_i^-1 g_j), which no left multiplication changes. Variants G, C and A: see Variant.
///
/// Outputs of tokens: scalars, by a linear map of the final features; scalars of role `offset` with as many
/// channels as the algebra has dimensions, the orthonormal coordinates delta_i of a correction, by a network
/// of two layers; and elements (N, m, m), g_i Delta_i, likewise: Delta_i = exp(delta_i) (eq. 5 of the paper, the local
/// form) or made of free numbers (theorem 4, the global form; `factor`). Outputs of graphs: scalars, by a network of two
/// layers on the mean of the tokens' final features, of extensive ones as the sum of what it gives of each token (float64).
/// None of them changes with left multiplications.
///
/// Translations are divided by length_scale before anything else, and what is put out is in the unit of the poses again.
///
/// With move_tokens a correction counts from the token as given; ShapeError where, in an affine group, moves
/// and correction together have no logarithm (an element needs none).
///
/// Children: score (G, C), start or embedding (A), [features], blocks.<i>, [move.<i>], norm, head.<output>.
/// Exact: left multiplications (G, C), and node order unless model.lie.order reads it. Under "causal" outputs of a token
/// depend on it and on those before it alone. ConfigError: other outputs.
class Transformer : public PosesModel {
 public:
  using Options = lie::Options;
  Transformer(const Options& options, const Interface& interface);
  Named forward(const Poses& poses) override;
  Symmetry symmetry() const override;
  Work work(double nodes) const override;
  std::string memory_note(const Input& input) const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;

  const Options options;

 private:
  Tensor embedded(const Poses& poses) const;    // h (N, d)
  double pairs_of_token(double nodes) const;    // with how many others a token of so large a graph is scored
  int64_t numbers_of(const Quantity& q) const;  // that make a correction or an element
  Tensor factor_of(const Tensor& orthonormal) const;      // exp, (N, E) -> (N, compact)
  Tensor factor_of_element(const Tensor& numbers) const;  // by `factor`
  Tensor coordinates_of(const Tensor& factor) const;      // and back
  /// Why long graphs have numbers for each pair in memory: "the scores of variant C". Empty: they stream.
  std::string stored_for(bool training) const;
  /// The sentence of memory_note for so many tokens in one graph.
  std::string storage_text(const std::string& reason, double tokens) const;

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
