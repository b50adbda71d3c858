#pragma once

#include <string>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/features.h"
#include "weyl/models/platonic/group_linear.h"
#include "weyl/models/platonic/options.h"
#include "weyl/ops/frames/group_tables.h"
#include "weyl/ops/frames/lifted_fourier.h"

namespace weyl::platonic {

/// Lifts features to functions on the group (paper, section 3.1): in frame g a scalar is itself, a vector u
/// is R_g^T u; pseudoscalars and axial vectors are also multiplied by det R_g.
///   scalars (N, S), vectors (N, V, D), either may be undefined -> (N, G (S + V D)), frames first; in a frame
///   the scalars come first, then the vectors, coordinate fastest.
/// pseudo (S) and axial (V) say which are odd under reflections.
Tensor lift(const Tensor& scalars, const Tensor& vectors, const std::vector<bool>& pseudo,
            const std::vector<bool>& axial, const GroupTables& tables);

/// The mean over frames: x (N, G c) -> (N, c); the columns marked `pseudo` times det R_g.
Tensor frame_scalars(const Tensor& x, const std::vector<bool>& pseudo, const GroupTables& tables);

/// Vectors in the world from vectors in frames: (1/G) sum_g R_g v_g, x (N, G c D) -> (N, c, D); those marked
/// `axial` times det R_g.
Tensor frame_vectors(const Tensor& x, const std::vector<bool>& axial, const GroupTables& tables);

/// The first layer: features lifted to functions on the group (embedding.h), and a GroupLinear map of these without bias. By
/// irreps it multiplies those blocks alone in which lifted features are not zero (ops/frames/lifted_fourier.h), all of them
/// where the group's matrices are rounded (`authors_tables`).
class Embedder : public GroupLinear {
 public:
  /// `columns`: of the features, at least one.
  Embedder(const GroupTablesPtr& tables, InputColumns columns, int64_t width, LinearForm form);

  /// scalars (N, S), vectors (N, V, D), undefined when there are none -> (N, G C).
  Tensor embedded(const Tensor& scalars, const Tensor& vectors) const;

  /// Of one token with its lift. The input depends on no parameter.
  Work work_of_token(LinearForm form) const;

 protected:
  void mode_changed() override;

 private:
  InputColumns columns_;
  std::shared_ptr<const LiftedFourier> lifted_;  // null: dense, or not exact
  DerivedTensors blocks_;
};

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
