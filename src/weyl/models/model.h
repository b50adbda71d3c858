#pragma once

#include <string>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/carriers/batch.h"
#include "weyl/carriers/quantity.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/foreign_record.h"
#include "weyl/models/work.h"
#include "weyl/nn/module.h"

namespace weyl {

/// A set of transformations of the input under which a model says how its outputs move.
struct Claim {
  /// `left_motions`: g -> a g of all tokens of a graph, a any element of their Lie group (poses).
  enum class Of {
    finite,
    rotations,
    rotoreflections,
    translations,
    permutations,
    left_motions
  } of = Of::permutations;
  std::string group;  // "tetrahedron", "SO(3)", "O(3)", "translations", "permutations", "SE(3)"
  GroupPtr finite;    // for Of::finite
};

/// What `audit` checks: exact claims must hold to rounding; approximate ones are measured and reported.
/// `obstacles`: what keeps the input at hand from an exact claim that another has, a line each: the layer,
/// why, and with which size it would hold.
struct Symmetry {
  std::vector<Claim> exact, approximate;
  std::vector<std::string> obstacles;
};

/// Weights of another program, named and laid out as a model of ours has them.
struct ForeignWeights {
  NamedTensors tensors;
  double shift = 0;           // what their model adds to its output, once for a graph
  std::vector<bool> trained;  // which types of nodes they were trained on; empty: not known, maybe all
};

/// The name of what a model in training may return beside its outputs: a term that it asks the loss for, (1).
/// Tasks whose outputs can have one add it (Trajectory).
constexpr const char* term_of_loss = "term of the loss";

/// A network on one carrier: from the features of `interface` to one tensor per output quantity, named as
/// there, (L, c) scalars and (L, c, D) vectors, in the model's dtype; extensive ones of graphs, sums over
/// nodes, in float64 (sum_nodes of nn/pooling.h). Takes all geometry from positions and cell and never
/// detaches it, so that any output can be differentiated with respect to them.
class Model : public Module {
 public:
  explicit Model(Interface interface) : interface(std::move(interface)) {}
  virtual Named operator()(const Input& input) = 0;
  Carrier carrier() const { return carrier_of(interface); }
  /// What holds whatever the input.
  virtual Symmetry symmetry() const = 0;
  /// What holds for inputs shaped like this one: on grids exactness depends on how many cells there are.
  virtual Symmetry symmetry_for(const Input& example) const;
  /// What a token takes, at `typical_nodes` tokens a graph, all within a cut-off if there is one. Of a model that does not
  /// say them, the backward pass is twice the forward pass, and the nominal operations are those of three.
  Work work_of_token() const;
  /// The same with a dense matrix in place of each linear map that goes by irreps.
  Work dense_work_of_token() const;
  /// Whether what a token takes depends on the size of its object.
  virtual bool looks_inside_objects() const { return false; }
  /// How many nodes the object of a node has, in the mean over nodes. 0: not known, what looks there is not counted.
  virtual void set_object_nodes(double nodes) { object_nodes_ = nodes; }
  /// How many edges (pairs of nodes) of each graph of a batch a forward pass holds in memory; nothing where it holds
  /// none. Who bounds batches asks.
  virtual std::vector<int64_t> edges(const Points& /*points*/) const { return {}; }
  /// What may be trained but seldom should be, a sentence each. `differentiated_by`: the option by which its
  /// outputs are differentiated by positions (Task::differentiated_by); empty: they are not.
  virtual std::vector<std::string> warnings(std::string_view /*differentiated_by*/) const { return {}; }
  /// Whether a model of points sees the images of a periodic cell.
  virtual bool periodic() const { return false; }
  /// A state dict of the system's authors (names without wrappers' prefixes) in our names and layouts, without
  /// the tables and dead parts that have no parameter here; as it is where the names are ours. What the file says
  /// beside its weights must be true of this model. DataError: tensors of unexpected shapes, a setting of `record` that
  /// contradicts the options (key, the file's value, the option's).
  virtual ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& /*record*/) const {
    return {state_dict};
  }

  const Interface interface;

 protected:
  /// What of work_of_token the model says; backward, nominal 0: not said.
  virtual Work work() const = 0;
  virtual Work dense_work() const { return work(); }

  double object_nodes_ = 0;
};

/// A model of Points.
class PointsModel : public Model {
 public:
  static constexpr Carrier reads = Carrier::points;
  /// ConfigError: an interface of poses or of a grid.
  explicit PointsModel(Interface interface);
  /// ShapeError for another carrier, missing features, wrong shapes or dtypes, an input without objects where outputs
  /// belong to them; ConfigError for a cell, unless the model is `periodic`. Adds to outputs of role `point` the place
  /// that they are counted from (`origin_of`).
  Named operator()(const Input& input) final;
  /// The network itself, on checked input. Outputs of role `point` as offsets.
  virtual Named forward(const Points& points) = 0;
};

/// Where points of a level are counted from: the positions of nodes, the centroid of an object's or a graph's nodes.
/// (L, D). ShapeError for pairs.
Tensor origin_of(const Points& points, Level level);

/// Tells a model that looks inside objects how large those of this input are; nothing to others.
void note_objects(Model& model, const Input& input);

/// Whether a model gives the same for a sample that is moved as a whole, but for outputs that have a place: exact under
/// translations or, of poses, left motions. Who gives it inputs then moves them near the origin (carriers/origin.h)
/// before they are rounded to its dtype.
bool exact_under_translations(const Model& model);

/// What users of a model that is not must know, a sentence; empty for others, and where nothing has a place.
std::string note_on_places(const Model& model);

/// ConfigError, beginning with `where`: an input with a cell for a model of points that is not periodic.
void require_no_cell(const char* where, const Model& model, const Input& input);

/// A model of Poses, all of one Lie group: the interface's.
class PosesModel : public Model {
 public:
  static constexpr Carrier reads = Carrier::poses;
  /// ConfigError: an interface without a group or with the dimension of another, or with features that are
  /// not scalars of nodes.
  explicit PosesModel(Interface interface);
  /// ShapeError for another carrier or group, wrong shapes, dtypes or devices.
  Named operator()(const Input& input) final;
  LieGroup group() const { return *interface.group; }
  /// The network itself, on checked input. Outputs of kind `element` are (L, m, m).
  virtual Named forward(const Poses& poses) = 0;
};

/// A model of grids: images (dimension 2) or volumes (3).
class GridModel : public Model {
 public:
  static constexpr Carrier reads = Carrier::grid;
  /// ConfigError: an interface that is not of a grid of dimension 2 or 3, or with features that are not
  /// scalars of nodes, the channels of the grid.
  explicit GridModel(Interface interface);
  /// ShapeError for another carrier, wrong channels, axes, dtype or device, or a grid without cells.
  Named operator()(const Input& input) final;
  /// The network itself, on checked input. Outputs of nodes are (B, c, pixels...), of graphs (B, c).
  virtual Named forward(const Grid& grid) = 0;
};

/// As papers write it: "SE(3)".
std::string symbol_of(LieGroup group);

}  // namespace weyl
