#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/carriers/batch.h"
#include "weyl/carriers/origin.h"
#include "weyl/carriers/quantity.h"
#include "weyl/core/setting.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/work.h"
#include "weyl/nn/module.h"

namespace weyl {

struct BondGradient;  // ops/edges/bond_gradient.h

/// What a file of another program says besides its weights. A member is empty where the file says nothing of it.
struct ForeignRecord {
  Settings settings;               // its hyper_parameters
  std::vector<bool> trained_rows;  // which rows of its tables of types training has moved
};

/// A set of transformations of the input under which a model says how its outputs move.
struct Claim {
  /// `left_motions`: g -> a g for all tokens of a graph, with any element a of their Lie group (poses).
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

/// What `audit` checks. Exact claims must hold to rounding; approximate ones are measured and reported. `obstacles`
/// say, a line each, why the input at hand keeps the model from an exact claim that it has for another input: the
/// layer, the reason, and the size with which the claim would hold.
struct Symmetry {
  std::vector<Claim> exact, approximate;
  std::vector<std::string> obstacles;
};

/// Weights of another program, with the names and layouts of a model of ours.
struct ForeignWeights {
  NamedTensors tensors;
  double shift = 0;           // what their model adds to its output, once for a graph
  std::vector<bool> trained;  // which types of nodes they were trained on; empty: not known, maybe all
};

/// The name of a term, (1), that a model in training may return beside its outputs, to be added to the loss. Tasks
/// whose outputs can have such a term add it (Trajectory).
constexpr const char* term_of_loss = "term of the loss";

/// The name under which a model in training may give the output `name` of cells once more at a lower resolution (deep
/// supervision): step 1 is the finest of these, 2 the next. Tasks of cells add them to their loss (Segmentation).
std::string coarser_output(std::string_view name, int64_t step);

/// A network on one carrier. It maps the features of `interface` to one tensor per output quantity, by name: scalars
/// (L, c) and vectors (L, c, D), in the model's dtype. Extensive outputs of graphs, which are sums over nodes, are
/// float64 (sum_nodes of nn/pooling.h). All geometry comes from positions and cell and is never detached, so that any
/// output can be differentiated with respect to them.
class Model : public Module {
 public:
  explicit Model(Interface interface) : interface(std::move(interface)) {}
  virtual Named operator()(const Input& input) = 0;
  /// The energies of nodes whose sums over graphs are the model's one output, and their derivatives by bonds, of the nodes
  /// that count, (N) bool, or all; worked out without autograd. Nothing where the model, or this input as things stand
  /// (training, gradients that weights ask for, another device, many threads for few large graphs), has no such way: outputs are then to be
  /// differentiated. The errors of operator().
  virtual std::optional<BondGradient> bond_gradient(const Input& input, const Tensor& counts);
  Carrier carrier() const { return carrier_of(interface); }
  /// The symmetries that hold for every input.
  virtual Symmetry symmetry() const = 0;
  /// The symmetries that hold for inputs shaped like `example`: on grids exactness depends on the number of cells.
  virtual Symmetry symmetry_for(const Input& example) const;
  /// Floating-point operations per token, for graphs of `nodes` tokens, all of them within the cut-off if there is one.
  /// Where a model does not say them, the backward pass counts as two forward passes, and the nominal operations as three.
  Work work_of_token(double nodes) const;
  Work work_of_token() const { return work_of_token(interface.typical_nodes); }
  /// The same with each linear map that goes by irreps counted as a dense matrix.
  Work dense_work_of_token(double nodes) const;
  Work dense_work_of_token() const { return dense_work_of_token(interface.typical_nodes); }
  /// Whether the work per token depends on the size of the token's object.
  virtual bool looks_inside_objects() const { return false; }
  /// Tells the model how many nodes the object of a node has, averaged over nodes. 0: not known, and work inside
  /// objects is not counted.
  virtual void set_object_nodes(double nodes) { object_nodes_ = nodes; }
  /// How many edges (pairs of nodes) a forward pass holds in memory, for each graph of a batch; empty where it holds
  /// none. Callers that bound the size of batches need it.
  virtual std::vector<int64_t> edges(const Points& /*points*/) const { return {}; }
  /// Warnings, a sentence each, about options that may be trained but seldom should be. `differentiated_by`: the option
  /// by which the outputs are differentiated with respect to positions (Task::differentiated_by); empty: they are not.
  virtual std::vector<std::string> warnings(std::string_view /*differentiated_by*/) const { return {}; }
  /// What to know of it on inputs of `typical_nodes` beside its cost, a line each, as how many tokens a grid becomes. `info`
  /// of a config prints them, and `train` when it starts.
  virtual std::vector<std::string> facts() const { return {}; }
  /// Where the memory of this input grows with the squares of its graphs' nodes and the largest is large: a sentence that says so,
  /// with the bytes. Empty: it does not.
  virtual std::string memory_note(const Input& /*input*/) const { return {}; }
  /// How sharply the tokens of a grid attend: at each cell the largest weight in the softmax of the token that stands over it,
  /// NaN where none does. (B, heads, cells along each axis) on the CPU, a tensor for each layer with attention in their order.
  /// Empty: the model has no attention over grids.
  virtual std::vector<Tensor> attention_maps(const Input& /*input*/) { return {}; }
  /// What a net of stages knows of each sample after each of them, by its name: the lengths of features, each averaged over the
  /// cells, (B, S) on the CPU. For nets whose lengths do not change when a sample is turned. Empty: other models.
  virtual std::vector<std::pair<std::string, Tensor>> stage_lengths(const Input& /*input*/) { return {}; }
  /// The largest distance, in the unit of the positions, at which a node can change what is said of another: the cut-off
  /// times the number of times that nodes look at their neighbours. Empty: there is none, as where all nodes of a graph see
  /// one another. Models that have one take strains of single nodes (Points::strains).
  virtual std::optional<double> reach() const { return {}; }
  /// Whether a model of points sees the images of a periodic cell.
  virtual bool periodic() const { return false; }
  /// Translates a state dict of the system's authors (names without wrappers' prefixes) into our names and layouts,
  /// without the tables and dead parts that have no parameter here. A state dict that has our names already is returned
  /// unchanged. What the file says besides its weights must hold for this model. DataError: a tensor of an unexpected
  /// shape; a setting of `record` that contradicts the options (key, the file's value, the option's).
  virtual ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& /*record*/) const {
    return {state_dict};
  }

  const Interface interface;

 protected:
  /// The part of work_of_token that the model says itself; backward or nominal 0: not said.
  virtual Work work(double nodes) const = 0;
  virtual Work dense_work(double nodes) const { return work(nodes); }

  double object_nodes_ = 0;
};

/// A model of Points.
class PointsModel : public Model {
 public:
  static constexpr Carrier reads = Carrier::points;
  /// ConfigError: an interface of poses or of a grid.
  explicit PointsModel(Interface interface);
  /// Checks the input and calls `forward`. Outputs of role `point` get the place that they are counted from added
  /// (`origin_of`). ShapeError: another carrier; missing features; wrong shapes or dtypes; an input without objects
  /// where outputs belong to objects. ConfigError: an input with a cell, unless the model is `periodic`; strains of nodes,
  /// unless it has a `reach`.
  Named operator()(const Input& input) final;
  /// The network itself, on checked input. It returns outputs of role `point` as offsets.
  virtual Named forward(const Points& points) = 0;

 protected:
  /// The points of an input that operator() takes, or its errors.
  const Points& checked(const Input& input) const;
};

/// The places (L, D) that points of a level are counted from: the positions of nodes, or the centroid of the nodes of
/// an object or a graph. ShapeError for pairs.
Tensor origin_of(const Points& points, Level level);

/// Tells a model that looks inside objects how large the objects of this input are. Does nothing for other models.
void note_objects(Model& model, const Input& input);

/// Whether the outputs of a model do not change when a sample is moved as a whole, except that outputs with a place
/// move along: the model is exact under translations or, for poses, left motions. Callers then move its inputs near the
/// origin (carriers/origin.h) before they are rounded to its dtype.
bool exact_under_translations(const Model& model);

/// By what callers move them there: nothing for other models, the first token for models of poses that are not exact under
/// permutations, as those that look back alone, else the mean.
Centre centre_of(const Model& model);

/// What users must know of a model that is not exact under translations, a sentence. Empty for other models, and where
/// nothing has a place.
std::string note_on_places(const Model& model);

/// ConfigError, with a message that begins with `where`: the input has a cell and the model, one of points, is not
/// periodic.
void require_no_cell(const char* where, const Model& model, const Input& input);

/// A model of Poses, all of the one Lie group that the interface names.
class PosesModel : public Model {
 public:
  static constexpr Carrier reads = Carrier::poses;
  /// ConfigError: the interface has no group, the dimension of another group, or a feature that is not a scalar of
  /// nodes.
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
  /// ConfigError: the interface is not of a grid of dimension 2 or 3, or has a feature that is not a scalar of nodes,
  /// that is a channel of the grid.
  explicit GridModel(Interface interface);
  /// ShapeError for another carrier, wrong channels, axes, dtype or device, or a grid without cells.
  Named operator()(const Input& input) final;
  /// The network itself, on checked input. Outputs of nodes are (B, c, pixels...), of graphs (B, c).
  virtual Named forward(const Grid& grid) = 0;

 protected:
  /// Channels of all features. ConfigError, which `system` begins: there are none.
  int64_t channels_in(const char* system) const;
  /// Channels of all outputs. ConfigError, which `system` begins: there are none, or one is no scalar of `level`.
  int64_t channels_out(const char* system, Level level) const;
  /// The channels of all outputs, in the order of the interface (B, sum c, ...), by name.
  Named by_name(const Tensor& all) const;
  /// Cells along an axis of a square or cube of so many, or as near to it as may be.
  int64_t side_of(double cells) const;
  int64_t typical_side() const { return side_of(interface.typical_nodes); }
};

/// As papers write it: "SE(3)".
std::string symbol_of(LieGroup group);

}  // namespace weyl
