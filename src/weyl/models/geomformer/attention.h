#pragma once

#include <array>
#include <memory>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/models/geomformer/geometry.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/mlp.h"
#include "weyl/ops/edges/edge_attention.h"

namespace weyl::geomformer {

/// Weights of edges from their scores: (E, P H), those of P attentions side by side, and the smooth cut-off (E) or none
/// -> (E, P H). See Normaliser; of `constant` the scores count nothing. The sum of what softmax divides by is at least
/// 1e-12: a node without neighbours receives nothing.
Tensor normalised(const Tensor& scores, const Tensor& envelope, const Edges& edges, Normaliser law);

/// The attentions of one layer, within and between the invariant stream i (N, d) and the equivariant one
/// e (N, 3, d) (GeoMFormer, eq. 5 to 7; <,> sums over xyz, channel by channel):
///   inv_self   q = i Wq,   k = i Wk,              v = i Wv
///   inv_cross  q = i Wq',  k = <e Wk1, e Wk2>,    v = <e Wv1, e Wv2>
///   equ_self   q = e Wq,   k = e Wk,              v = e Wv
///   equ_cross  q = e Wq',  k = (e Wk1) (i Wk2),   v = (e Wv1) (i Wv2)
/// each with an output map. Scores are sums over the channels of a head (and xyz, equivariant), scaled, plus
/// the structural bias. No map has a bias. With towers = joined, what inner products are made of is mapped from the vectors
/// J = [e, e'] (N, 3, 2 d) of both towers in place of e:
///   inv_cross  k = <J Wk1, J Wk2>,  v = <J Wv1, J Wv2>
///   equ_self   q = J Wq,   k = J Wk              equ_cross  q = J Wq',  k = (J Wk1) (i Wk2)
/// and what is added to the equivariant stream, v, is made of its own vectors. Children: inv and equ (the maps of a stream,
/// one below the other, in the order above), [joined] (those of J), out_inv and out_equ (the output maps of self- and
/// cross-attention side by side).
class StreamAttention : public Module {
 public:
  /// Which of the four: those that `options.parts` has.
  enum Part { inv_self, inv_cross, equ_self, equ_cross };
  struct Streams {
    Tensor inv, equ;  // (N, d), (N, 3, d); undefined: nothing
  };
  /// `bias`: (E, H) for each part, or undefined.
  using Biases = std::array<Tensor, 4>;

  explicit StreamAttention(const Options& options);
  /// What the self-attentions and the cross-attentions of `parts` add to the streams. `joined`: J, read with towers =
  /// joined alone.
  Streams operator()(const Tensor& i, const Tensor& e, const Tensor& joined, const Segments& graphs,
                     const Neighbourhood& near, const Biases& bias, const std::array<bool, 4>& parts) const;
  std::array<bool, 4> attentions() const { return parts_; }
  /// Of one node. `equ_learns`: the vectors that come in depend on parameters. `times`: how often a layer calls it.
  Work work(const Around& around, bool equ_learns, double times) const;

 private:
  /// What the parts of each stream give side by side, (N, p d) and (N, 3, p d), where all nodes of a graph attend to one
  /// another, and along edges.
  Tensors of_pairs(const std::vector<Part>& parts, const Tensor& inv, const Tensor& equ,
                   const Segments& graphs, const Biases& bias) const;
  Tensors of_edges(const std::vector<Part>& parts, const Tensor& inv, const Tensor& equ,
                   const Neighbourhood& near, const Biases& bias) const;

  int64_t width_, heads_;
  Normaliser normaliser_;
  double dropout_;
  std::array<bool, 4> parts_;
  std::array<StreamPart, 4> maps_;  // which maps each reads: of inv, of equ, then of joined
  std::shared_ptr<Linear> inv_, equ_, joined_;
  std::array<std::shared_ptr<Linear>, 2> out_;
};

/// One weighted sum of filtered messages for both streams: TorchMD-Net's Equivariant Transformer and PaiNN, or what stands
/// beside attention. With values w_j = (w0, w1, w2) (N, 3 F) of the sender, filters f_e (E, 3 F) of the distance and u_e the
/// direction (0 between coincident atoms, where it jumps, as in the published models):
///   m_i = sum_e a_e w0_j f0_e,     V_i = sum_e c_e (v_j w1_j f1_e + u_e w2_j f2_e)
///   a_e: the normaliser of q_i . k_j . d_e per head (silu: ET) or 1 (PaiNN, beside attention), and the cut-off;
///   c_e: the cut-off (silu without vector_cutoff: 1).
/// Added are m and V (PaiNN, beside attention), or, with (o1, o2, o3) = m Wo and (p1, p2, p3) = v Wp, own_products (ET):
///   dx = <p1, p2> o2 + o3,         dv = p3 o1 + V.
/// Children: q_proj, k_proj, dk_proj (silu), v_proj or values, dv_proj, o_proj and vec_proj (own_products).
/// Columns of w and f: part by part, those of m alone where no vectors are asked for (messages_of). Linear maps start by
/// Xavier's law, their biases at zero; beside attention values start smaller, as the last maps of other branches do.
class FilteredMessages : public Module {
 public:
  explicit FilteredMessages(const Options& options);
  StreamAttention::Streams operator()(const Tensor& x, const Tensor& v, const Neighbourhood& near) const;
  /// Of one node. `equ_learns`: the vectors that come in depend on parameters.
  Work work(const Around& around, bool equ_learns) const;

 private:
  struct Sums;

  int64_t width_, heads_;
  Messages messages_;
  std::shared_ptr<Linear> q_, k_, value_, out_, vectors_, key_filter_, value_filter_;
  std::shared_ptr<Mlp> deep_value_;
};

}  // namespace weyl::geomformer
