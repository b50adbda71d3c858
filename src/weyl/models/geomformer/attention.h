#pragma once

#include <array>
#include <memory>

#include "weyl/core/segments.h"
#include "weyl/models/geomformer/geometry.h"
#include "weyl/nn/linear.h"

namespace weyl::geomformer {

/// Weights of edges from their scores: (E, H) and the smooth cut-off (E) or none -> (E, H). See Normaliser;
/// of `constant` the scores count nothing. The sum of what softmax divides by is at least 1e-12: a node
/// without neighbours receives nothing.
Tensor normalised(const Tensor& scores, const Tensor& envelope, const Edges& edges, Normaliser law);

/// The attentions of one layer, within and between the invariant stream i (N, d) and the equivariant one
/// e (N, 3, d) (GeoMFormer, eq. 5 to 7; <,> sums over xyz, channel by channel):
///   inv_self   q = i Wq,   k = i Wk,              v = i Wv
///   inv_cross  q = i Wq',  k = <e Wk1, e Wk2>,    v = <e Wv1, e Wv2>
///   equ_self   q = e Wq,   k = e Wk,              v = e Wv
///   equ_cross  q = e Wq',  k = (e Wk1) (i Wk2),   v = (e Wv1) (i Wv2)
/// each with an output map. Scores are sums over the channels of a head (and xyz, equivariant), scaled, plus
/// the structural bias. No map has a bias. Children: inv and equ (the maps of a stream, one below the other,
/// in the order above), out_<module>.
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
  /// What the self-attentions and the cross-attentions of `parts` add to the streams.
  Streams operator()(const Tensor& i, const Tensor& e, const Segments& graphs, const Neighbourhood& near,
                     const Biases& bias, const std::array<bool, 4>& parts) const;
  std::array<bool, 4> parts() const { return parts_; }
  /// Of one node. `equ_learns`: the vectors that come in depend on parameters. `times`: how often a layer calls it.
  Work work(const Around& around, bool equ_learns, double times) const;

 private:
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                const Neighbourhood& near, const Tensor& bias) const;

  int64_t width_, heads_;
  Normaliser normaliser_;
  EquivariantScale equ_scale_;
  double dropout_;
  bool shared_query_;
  std::array<bool, 4> parts_;
  std::shared_ptr<Linear> inv_, equ_;
  std::array<std::shared_ptr<Linear>, 4> out_;
};

}  // namespace weyl::geomformer
