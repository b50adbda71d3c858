#pragma once

#include <memory>

#include "weyl/carriers/quantity.h"
#include "weyl/models/geomformer/attention.h"
#include "weyl/nn/mlp.h"

namespace weyl::geomformer {

/// Pseudoscalars (N, c) or axial vectors (N, c, 3) of nodes from the streams x (N, d) and z (N, 3, d). Both are even
/// under reflections, so no map that is linear in z gives either: products of three or two of its vectors do.
///
///   a_k = g_k (u_k x v_k),   t_k = g_k (u_k x v_k) . w_k,   u, v, w = z U, z V, z W,   g = MLP(x)
///
/// then a linear map without bias over the hidden channels k, `head_hidden` of them (by default as many as the width).
/// Exact under O(3): a moves by det(R) R, t by det(R). Where the vectors of a node lie on one line, a vanishes, where
/// they lie in one plane, t does. Children: first, second, third (of pseudoscalars), gate, out.
class OddOutput : public Module {
 public:
  OddOutput(const Quantity& output, int64_t width, const Options& options);
  Tensor operator()(const StreamAttention::Streams& streams) const;
  Work work() const;  // of one node

 private:
  bool vectors_;
  std::shared_ptr<Linear> first_, second_, third_, out_;
  std::shared_ptr<Mlp> gate_;
};

}  // namespace weyl::geomformer
