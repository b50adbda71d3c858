#pragma once

#include <memory>

#include "weyl/carriers/quantity.h"
#include "weyl/models/geomformer/attention.h"
#include "weyl/models/geomformer/odd_output.h"
#include "weyl/nn/mlp.h"

namespace weyl::geomformer {

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
/// an MLP or vectors (N, c, 3) by a linear map without bias (mlp), or either by two gated blocks; pseudoscalars (N, c)
/// and axial vectors (N, c, 3) by products of vectors with either head. Children: mlp, vectors, 0 and 1, or products.
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
  std::shared_ptr<OddOutput> odd_;
};

}  // namespace weyl::geomformer
