#pragma once

#include <string>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/platonic/group_linear.h"
#include "weyl/models/platonic/options.h"

namespace weyl::platonic {

/// One readout of the trunk: all outputs of one form (plain numbers or vectors) that are pooled alike.
struct ReadoutPlan {
  /// Of nodes; of nodes pooled over graphs or averaged over objects; of nodes, then summed over either (extensive).
  enum class Rows { node, graph, graph_sum, object, object_sum };
  std::string name;  // "scalar_readout", "vector_readout", or with a suffix
  bool vectors = false;
  Rows rows = Rows::graph;
  std::vector<bool> odd;  // for each channel: times det R_g
  std::vector<Quantity> outputs;
  int64_t channels() const { return static_cast<int64_t>(odd.size()); }
};

/// The readouts of an interface, scalars before vectors. The first of each form has the authors' name;
/// further ones (other levels) end in `_node`, `_graph`, `_sum`, `_object` or `_object_sum`. ConfigError for an output
/// that is neither a scalar nor a vector of a node, an object or a graph.
std::vector<ReadoutPlan> plan_readouts(const Interface& interface, const Options& options);

/// The parameters of one readout and its way from the trunk to named outputs: the map (d -> d -> G n, or one
/// layer with `ffn_readout` off), then the mean over frames; vectors turn back with their frame first.
class Readout {
 public:
  Readout(ReadoutPlan plan, const Options& options, GroupTablesPtr tables);
  const ReadoutPlan& plan() const { return plan_; }
  std::shared_ptr<Module> module() const;

  /// Trunk (rows, G C) in, tensors by name into `outputs`, in `dtype` (sums float64).
  void operator()(const Tensor& trunk, const Points& points, at::ScalarType dtype,
                  std::map<std::string, Tensor>& outputs) const;
  Work work(LinearForm form) const { return mlp_ ? mlp_->work(form) : linear_->work(form); }  // of one row

 private:
  ReadoutPlan plan_;
  GroupTablesPtr tables_;
  std::shared_ptr<GroupMlp> mlp_;
  std::shared_ptr<GroupLinear> linear_;
};

}  // namespace weyl::platonic
