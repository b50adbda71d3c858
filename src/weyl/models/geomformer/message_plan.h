#pragma once

#include <memory>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/nn/module.h"
#include "weyl/ops/edges/bond_gradient.h"

namespace weyl::geomformer {

/// Energies of nodes and their derivatives by bonds, written out by hand in kernels (kernels/edges/message_net.h) where
/// autograd would keep a graph of small ops: of a molecule of 20 atoms it takes longer over that than over the numbers.
/// A plan keeps copies of the weights; see Module::train for when they are taken anew. Several threads may use it at once.
/// Each has a workspace of its own, which grows to what its largest graph needs and stays.
class MessagePlan {
 public:
  virtual ~MessagePlan() = default;
  /// Whether these points are worth it and kernels take them: a graph is the work of one thread, so where there are more
  /// threads than large graphs, autograd's ops are faster, which share out the edges of one.
  virtual bool takes(const Points& points) const = 0;
  /// features (N, d): what is added to the first features of nodes, or undefined. counts (N) bool: the nodes whose energies
  /// are differentiated, or undefined.
  virtual BondGradient operator()(const Points& points, const Tensor& features,
                                  const Tensor& counts) const = 0;
};

/// Null where there is no such plan: it covers messages (ET and PaiNN) from vectors of zero, without norms of vectors,
/// gated feed-forward networks, pair_embedding, rounds and two towers, and the one output of an extensive energy; no
/// features that are vectors. Weights in float32 or float64 on the CPU.
std::shared_ptr<const MessagePlan> message_plan(const Options& options, const Interface& interface,
                                                const std::vector<Parameter>& parameters);

/// How many bytes the calling thread's workspace has.
int64_t message_workspace_bytes();

}  // namespace weyl::geomformer
