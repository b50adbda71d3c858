#pragma once

#include <memory>

#include "weyl/carriers/quantity.h"
#include "weyl/models/geomformer/attention.h"
#include "weyl/nn/mlp.h"

namespace weyl::geomformer {

/// Pseudoscalars (N, c), axial vectors (N, c, 3) or symmetric tensors (N, c, 3, 3) of nodes from the streams x (N, d) and z
/// (N, 3, d). No map that is linear in z gives them, products of its vectors do:
///
///   t_k = g_k (u_k x v_k) . w_k,   a_k = g_k (u_k x v_k),   S_k = g_k (u_k v_k^T + v_k u_k^T) / 2,
///   u, v, w = z U, z V, z W,   g = MLP(x)
///
/// then a linear map without bias over the hidden channels k, `head_hidden` of them (by default as many as the width); to S is
/// added the unit tensor times a number of x, by an MLP, as PaiNN's polarisability has it. Exact under O(3): a moves by det(R) R,
/// t by det(R), S by R S R^T. Where the vectors of a node lie on one line, a vanishes and S has that axis alone; where they lie
/// in one plane, t vanishes and S has no part across it but a multiple of the unit tensor. Children: first, second, third (of pseudoscalars), gate, out, isotropic (of tensors).
class ProductOutput : public Module {
 public:
  /// Whether an output of this kind is one.
  static bool gives(Kind kind);
  ProductOutput(const Quantity& output, int64_t width, const Options& options);
  Tensor operator()(const StreamAttention::Streams& streams) const;
  Work work() const;  // of one node

 private:
  Kind kind_;
  std::shared_ptr<Linear> first_, second_, third_, out_;
  std::shared_ptr<Mlp> gate_, isotropic_;
};

/// What GatedBlock adds to squared lengths: 2.2e-16 in float64, 1e-10 in float32, where symmetry makes
/// vectors vanish to 1e-7 and neighbours at the cut-off make them as short as 1e-4.
double least_square(at::ScalarType dtype);

/// A gated equivariant block (Schuett et al. 2021, TorchMD-Net): with n = q / sqrt(q + e), q = |v V1|^2
/// channel by channel, (x', g) = MLP([x, n]),  v' = g (v V2); SiLU on x' unless `last`. x
/// (N, I), v (N, 3, I) -> (N, O), (N, 3, O). e is `least_square`: |v V1| to rounding, but smooth at 0, with
/// slope 0 and second derivative 2 / sqrt(e) there. Children: vec1_proj, vec2_proj, update_net.
class GatedBlock : public Module {
 public:
  GatedBlock(int64_t in, int64_t out, bool last);
  StreamAttention::Streams operator()(const StreamAttention::Streams& streams) const;
  Work work(bool vectors_read) const;  // of one node

 private:
  bool last_;
  std::shared_ptr<Linear> vec1_, vec2_;
  std::shared_ptr<Mlp> update_;
};

/// From the streams of nodes, (N, d) and (N, 3, d), to the values of one output on nodes: numbers (N, c) by
/// an MLP or vectors (N, c, 3) by a linear map without bias (mlp), or either by two gated blocks; what ProductOutput gives
/// with either head. Children: mlp, vectors, 0 and 1, or products.
class Output : public Module {
 public:
  Output(const Quantity& output, int64_t width, const Options& options);
  Tensor operator()(const StreamAttention::Streams& streams) const;
  Work work() const;  // of one node

 private:
  bool vectors_;
  std::shared_ptr<Mlp> mlp_;
  std::shared_ptr<Linear> linear_;
  std::shared_ptr<GatedBlock> first_, second_;
  std::shared_ptr<ProductOutput> products_;
};

}  // namespace weyl::geomformer
