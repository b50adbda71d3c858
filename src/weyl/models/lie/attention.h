#pragma once

#include <optional>
#include <vector>

#include "weyl/models/lie/options.h"
#include "weyl/models/work.h"
#include "weyl/nn/module.h"
#include "weyl/ops/lie/attention.h"
#include "weyl/ops/lie/pair_network.h"

namespace weyl::lie {

/// How the tokens of some of the graphs stand to each other, none of it changed by g -> a g: their logarithms pair by
/// pair, for all layers, or, of very many pairs, only the elements that each layer takes them from.
struct Part {
  Segments graphs;
  Tensor rows;      // (n) int64: which tokens of the batch these are; undefined: all, in their order
  Tensor elements;  // (n, compact) float64
  std::optional<Pairs> pairs;  // squares counted from the least of their row, which scores do not notice
  Tensor exact;  // (P, E) float64: the coordinates before they were rounded, where scores read those
};

/// What the scores of a layer are made of. Of squares alone layers can do without stored pairs.
enum class Reads { squares, coordinates, exact_coordinates };

/// How the layers of a model look at tokens.
struct View {
  LieGroup group = LieGroup::se3;
  ChartPolicy chart = ChartPolicy::mask;
  Reads reads = Reads::squares;
  bool causal = false;  // a token sees those before it in its graph
  double radius = 0;    // and of them those with |w| below this; 0: all
  int64_t nearest = 0;  // and of them the nearest; 0: all

  bool of_neighbours() const { return radius > 0 || nearest > 0; }
};

/// From how many tokens on graphs are long: numbers of their pairs cost more than making them in each layer.
constexpr int64_t long_graph = 128;

/// The graphs with pairs and those without, each where there are any.
struct Relations {
  View view;
  std::vector<Part> parts;
  Tensor places;  // (N) int64: where each token is among those of all parts; undefined: one part at most
};

/// Each token's rows of x, one tensor for each part, in the batch's order again.
Tensor in_order(const Relations& relations, const std::vector<Tensor>& parts);

/// The relations of elements (N, compact) in float64, for layers in `dtype`: logarithms are made in float64 and rounded
/// once, since what they lose the network amplifies. Layers whose scores read squares can do without stored pairs, as
/// they do for graphs of more than 128 tokens. That is each graph's own affair: a short one has the same bits beside a
/// long one as alone. For others squares are left as pairs_between makes them. With a radius or a count the pairs of neighbours are
/// stored (pairs_near), whatever the length.
/// ShapeError under ChartPolicy::error when a stored pair lies outside the chart; of the others the layers say it.
Relations relate(const View& view, const Tensor& elements, const Segments& graphs, at::ScalarType dtype);

/// The scores of the heads of one layer, s_ij for the pairs of tokens (i, j) from w_ij, the orthonormal
/// coordinates of log(g_i^-1 g_j). L layers, H heads, K blocks of the algebra, E coordinates, P pairs.
struct LayerScore {
  Tensor ratios;                                  // G: lambda / tau (H, K)
  Tensor factor;                                  // G with a full metric: L (H, E, E) of M = L L^T
  Tensor first, first_bias, second, second_bias;  // C: (32 H, E), (32 H), (H, 32), (H)
  Tensor linear;  // (H, E + 2), undefined: none: what is added, linear_h . (w_ij, j - i, |j - i|)
  /// (P, H), up to constants of i; of pairs that are not present, anything.
  Tensor operator()(const Part& part) const;

  /// Attention by these scores inside each graph of the batch: values (N, H, C) of its tokens. ShapeError under
  /// ChartPolicy::error when a pair is outside the chart.
  Attention attend(const Relations& relations, const Tensor& values, const Segments& graphs) const;
};

/// What all scores have in common: the terms that tell the directions of a pair apart (paper, section 7, "symmetric score").
/// Parameters, where the options ask for them, initialised at 0: `directed` (L, H, E), whose product with w_ij is added to
/// s_ij, and which is odd: s_ij != s_ji; `order` (L, H, 2), (p, q) of p (j - i) + q |j - i|.
class Score : public Module {
 public:
  Score(const Options& options, int64_t coordinates);
  /// The scores of all layers, made once a pass.
  std::vector<LayerScore> layers() const;
  virtual Reads reads() const = 0;
  /// Of one pair in one layer. `moved`: tokens depend on parameters, by model.lie.move_tokens.
  Work work(bool moved) const { return own_work(moved) + linear_work(moved); }

 protected:
  /// Of all layers without these terms.
  virtual std::vector<LayerScore> symmetric_layers() const = 0;
  virtual Work own_work(bool moved) const = 0;
  const int64_t layers_, heads_, coordinates_;  // L, H, E

 private:
  Work linear_work(bool moved) const;

  Tensor directed_, order_;
};

/// G (paper, eqs. 2 and 3, section 4.3): s = -(sum_b lambda_b |w^(b)|^2) / tau, lambda = softplus(weight) + 0.001,
/// tau = softplus(temperature) + 0.001. Parameters `weight` (L, H, K) and `temperature` (L, H), initialised at 0,
/// so that s = -|w|^2. With metric = "isotropic" one lambda for all K blocks, `weight` (L, H, 1).
class NormScore : public Score {
 public:
  NormScore(const Options& options, LieGroup group);
  Reads reads() const override { return Reads::squares; }

 protected:
  std::vector<LayerScore> symmetric_layers() const override;
  Work own_work(bool moved) const override {
    return Work::product(static_cast<double>(heads_ * blocks_), moved ? 2 : 1);
  }

 private:
  int64_t blocks_;
  Tensor weight_, temperature_;
};

/// G with a full metric (paper, section 7, "block-isotropy assumption"): s = -w^T M w, M = L L^T positive definite, L lower
/// triangular with a diagonal exp(raw). Parameter `factor` (L, H, E (E + 1) / 2), the rows of L one after another,
/// initialised at 0, so that s = -|w|^2. The metric is no longer one number a block, nor does it commute with O(n): it
/// ties coordinates of different blocks and prefers axes of the tokens' own frames. w is invariant under g -> a g, and so
/// is s. Scores are made in float64 and counted from the largest of their row before they are rounded.
class MetricScore : public Score {
 public:
  MetricScore(const Options& options, LieGroup group);
  Reads reads() const override { return Reads::exact_coordinates; }

 protected:
  std::vector<LayerScore> symmetric_layers() const override;
  Work own_work(bool moved) const override;

 private:
  Tensor factor_;
};

/// C (paper, section 5): a network E -> 32 -> 1 with one hidden layer and ReLU, for each layer and head.
/// Parameters `first.weight` (L, 32 H, E), `first.bias` (L, 32 H), `second.weight` (L, H, 32), `second.bias` (L, H).
class KernelScore : public Score {
 public:
  KernelScore(const Options& options, LieGroup group);
  Reads reads() const override { return Reads::coordinates; }

 protected:
  std::vector<LayerScore> symmetric_layers() const override;
  Work own_work(bool moved) const override;

 private:
  Tensor first_weight_, first_bias_, second_weight_, second_bias_;
};

/// The score of variant G or C.
std::shared_ptr<Score> make_score(const Options& options, LieGroup group);

}  // namespace weyl::lie
