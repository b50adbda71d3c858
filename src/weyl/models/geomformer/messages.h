#pragma once

#include <memory>

#include "weyl/models/geomformer/attention.h"
#include "weyl/nn/mlp.h"

namespace weyl::geomformer {

/// One weighted sum of filtered messages for both streams: TorchMD-Net's Equivariant Transformer and PaiNN.
/// With values w_j = (w0, w1, w2) (N, 3 F) of the sender, filters f_e (E, 3 F) of the distance and u_e the
/// direction (0 between coincident atoms, where it jumps, as in the published models):
///   m_i = sum_e a_e w0_j f0_e,     V_i = sum_e c_e (v_j w1_j f1_e + u_e w2_j f2_e)
///   a_e: the normaliser of q_i . k_j . d_e per head (silu: ET) or 1 (constant: PaiNN), and the cut-off;
///   c_e: the cut-off (silu without vector_cutoff: 1).
/// Added are m and V (PaiNN), or, with (o1, o2, o3) = m Wo and (p1, p2, p3) = v Wp, own_products (ET):
///   dx = <p1, p2> o2 + o3,         dv = p3 o1 + V.
/// Children: q_proj, k_proj, dk_proj (silu), v_proj or values, dv_proj, o_proj and vec_proj (own_products).
/// Columns of w and f: part by part. Linear maps start by Xavier's law, their biases at zero.
class FilteredMessages : public Module {
 public:
  explicit FilteredMessages(const Options& options);
  StreamAttention::Streams operator()(const Tensor& x, const Tensor& v, const Neighbourhood& near) const;
  /// Of one node. `equ_learns`: the vectors that come in depend on parameters.
  Work work(const Around& around, bool equ_learns) const;

 private:
  struct Sums;

  int64_t width_, heads_;
  bool filter_activation_, vector_cutoff_;
  std::shared_ptr<Linear> q_, k_, value_, out_, vectors_, key_filter_, value_filter_;
  std::shared_ptr<Mlp> deep_value_;
};

}  // namespace weyl::geomformer
