#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/model.h"
#include "weyl/parallel/message.h"
#include "weyl/tasks/options.h"

namespace weyl {

struct MetricValue {
  double value = 0;
  std::string unit;
};
using Metrics = std::map<std::string, MetricValue>;

/// A metric that a meter may give, and which way is better.
struct MetricName {
  std::string name;
  bool lower_is_better = true;
  /// The metric that counts the results which this one leaves out of its mean because they are too bad to have a number, as
  /// the distance to an empty mask. Empty: none is left out. What chooses between models compares the count first.
  std::string left_out = {};
};

/// The confusion matrix `counts` (K, K), row by row: rows are the true classes, columns the predicted ones.
struct Confusion {
  std::vector<std::string> classes;
  std::vector<int64_t> counts;
};

/// Metrics of parts of a data set: of each element, say, or of each kind of frame.
struct Breakdown {
  std::string by;
  std::vector<std::pair<std::string, Metrics>> rows;
};

/// Accumulates metrics over batches: exact sums and weights, or what a median or a Dice score needs.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual void add(const Batch& batch, const Named& predictions) = 0;
  /// Adds what another meter of the same task has seen, as if this one had seen it, so that several processes can each
  /// measure a part of the data. Counts, and what is kept sample by sample, are exactly those of one meter that saw
  /// all. Sums of real numbers are added in another order and agree to rounding. ShapeError: the other meter is of
  /// another kind, or of other classes, targets or units.
  virtual void merge(const Meter& other) = 0;
  /// Writes all that this meter has seen, or becomes what another of its kind and options wrote, to the bit.
  virtual void tell(Message& message) = 0;
  virtual Metrics values() const = 0;
  /// All names that `values` may have for such data, whether or not a sample defines them (a class that does not occur
  /// has no accuracy). No data are read.
  virtual std::vector<MetricName> names(const Schema& data) const = 0;
  virtual std::optional<Confusion> confusion() const { return {}; }  // for tasks with classes
  /// Metrics of parts of the data; `data` has the names of the parts.
  virtual std::vector<Breakdown> breakdowns(const Schema& /*data*/) const { return {}; }
};

/// `other` as a meter of kind M, as `merge` needs it. ShapeError when it is of another kind.
template <class M>
const M& same_kind(const Meter& other, const char* task) {
  const auto* same = dynamic_cast<const M*>(&other);
  require(same != nullptr, task, ": a meter must be merged with one of its own kind, got another");
  return *same;
}

/// The result of one batch: the loss (a scalar with a graph when training), and predictions in the data's units.
struct Step {
  Tensor loss;
  Named predictions;
};

/// Which part of the whole a batch is in each term of the loss, () float64, where a step is cut into several batches: what
/// the term divides by in this batch (Task::loss_weights) over what it divides by in all. Empty: the batch is the whole.
using LossShares = std::vector<Tensor>;

/// A number of samples as loss_weights gives it.
inline Tensor loss_weight(int64_t count) {
  return at::full({}, static_cast<double>(count), at::kDouble);
}

/// A term of the loss, times its share.
inline Tensor shared(const Tensor& term, const LossShares& shares, size_t index) {
  return shares.empty() ? term : term * shares.at(index).to(term.device(), term.scalar_type());
}

/// What a prediction may be asked for beside what the task declares (Task::predictions). A task that cannot give something
/// leaves it out, or says why not (force_field.h).
struct Asked {
  bool forces = true;     // `forces` (N, 1, 3) of atoms
  bool stress = false;    // `stress` of periodic graphs; left out where forces are no gradients
  bool energies = false;  // `energies` (N, 1) of atoms
  bool virials = false;   // `virials` (N, 1, 3, 3) of atoms
  Tensor owned;           // (N) bool: the atoms whose energies count; undefined: all
};

/// How a prediction follows from the output y of weights that were trained elsewhere: scale y + shift.
struct OutputLaw {
  double scale = 1, shift = 0;  // both in the unit of the prediction; the shift is added once for a graph
  /// Which types of nodes the weights were trained on; the others count as unseen. Empty: no type counts as unseen.
  std::vector<bool> trained;

  /// Whether predictions are the outputs, unchanged.
  bool plain() const { return scale == 1 && shift == 0; }
};

/// A task says what is learned: which labels, which outputs, which loss, which metrics. It never names a system.
class Task {
 public:
  virtual ~Task() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Quantity> labels() const = 0;  // what the loss needs; 0 channels: any number of them
  /// Whether a label of the data is what `labels` wants under its name.
  virtual bool takes(const Quantity& wanted, const Quantity& label) const {
    return label.level == wanted.level && label.kind == wanted.kind &&
           (wanted.channels == 0 || label.channels == wanted.channels);
  }
  virtual std::string wants(const Quantity& wanted) const;    // the same in words, for one who reads an error
  virtual Interface interface(const Schema& data) const = 0;  // the data's, with the outputs needed
  /// The quantities that `predict` returns, for audits and files.
  virtual std::vector<Quantity> predictions(const Interface& model) const = 0;
  /// Those and what is asked for: what `predict_asked` returns.
  virtual std::vector<Quantity> predictions_asked(const Interface& model, const Asked& /*asked*/) const {
    return predictions(model);
  }

  virtual void fit(const Dataset& train) = 0;  // computes the statistics of the data
  /// Replaces `fit` for weights from elsewhere: predictions are their outputs, changed by `law`. False, and nothing
  /// changes, where a task cannot: it needs a training set, or has no place for a scale or a shift.
  virtual bool adopt(const Schema& /*data*/, const OutputLaw& law) { return law.plain(); }
  /// Follows `fit` for a model that starts from the weights of another, whose task was `before`. Takes over the scales
  /// and shifts that give the outputs their meaning, so that the model predicts what the other did. `from`, `to`: the
  /// interfaces of the other model and of this one; the types of `from` are the first of `to`. False, and nothing
  /// changes, where there are no such numbers, or `before` has others. ConfigError: a unit does not fit.
  virtual bool keep(const Task& /*before*/, const Interface& /*from*/, const Interface& /*to*/) {
    return false;
  }
  /// Follows `keep`: adjusts what predictions add to the model's outputs (references by composition, means) to the
  /// labels, by least squares of what the predictions leave of them. `outputs`: the model's outputs of graphs, (B, c)
  /// float64, on all samples in their order.
  virtual void refer(const Dataset& /*train*/, const Named& /*outputs*/) {}
  virtual NamedTensors state() const = 0;  // the statistics, float64
  virtual void load(const NamedTensors& state) = 0;

  /// Checks the values of a training batch that is still on the CPU but goes to another device, because reading them
  /// there would wait for the device. ShapeError where `step` would refuse them. May add labels that follow from those
  /// that are there. On the CPU `step` does the checks itself.
  virtual void prepare(Batch& /*batch*/, const Interface& /*model*/) const {}
  /// Says before each step of a training how much of its budget is used up, 0 to 1, to a loss whose weights change on the way.
  virtual void progress(double /*fraction*/) {}
  /// What each term of the loss divides its sum by, () float64 each: a number of known labels, of samples or of cells, or
  /// the sum of their weights. They follow from input and labels alone, without a forward pass. A step that is cut into
  /// several batches has the loss of one batch that holds them all, because each term of each batch counts by its
  /// share of these numbers.
  virtual std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const = 0;
  /// Input and weights must have the same dtype; labels are float64. `predict` needs no labels. `shares`: one for each of
  /// loss_weights, in that order; or none.
  virtual Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const = 0;
  virtual Named predict(Model& model, const Batch& batch) const = 0;
  virtual Named predict_asked(Model& model, const Batch& batch, const Asked& /*asked*/) const {
    return predict(model, batch);
  }

  /// The classes (B, 1, ...) int64 that follow from probabilities (B, K, ...), as `predict` takes them; for the mean of
  /// several models' probabilities.
  virtual Tensor likeliest(const Tensor& probabilities) const;

  /// Whether samples that are only measured may all lack a label, of which there are no metrics then.
  virtual bool measures_without(const Quantity& /*label*/) const { return false; }

  /// What everyone who uses the predictions must know, a sentence each. `train`, `eval` and `predict` print it, and it
  /// stands in the model card.
  virtual std::vector<std::string> notes() const { return {}; }

  /// The option, in the words of a config, by which predictions are derivatives of the model's outputs with respect to
  /// positions, as forces are. Empty: they are not.
  virtual std::string differentiated_by() const { return ""; }
  /// A copy of this task, with its statistics, whose predictions go `steps` steps; each starts where the one before has
  /// left the input. Null for tasks that do not go step by step. ConfigError: a feature of the model's inputs cannot be
  /// moved.
  virtual std::unique_ptr<Task> with_rollout(int64_t /*steps*/, const Interface& /*model*/) const {
    return nullptr;
  }
  /// How samples are moved for test-time rotations that `predict` cannot do, because only the data set can make such a sample
  /// anew (Dataset::made_anew): as it is first. `evaluate` predicts each of them and takes `averaged`. Empty: `predict` does
  /// all there is to do.
  virtual std::vector<Placement> placements(const Interface& /*model*/) const { return {}; }
  /// The predictions of a sample from those of its placements, in their order, for this task's meter.
  virtual Named averaged(const std::vector<Named>& of_placements) const { return of_placements.at(0); }
  /// The windows of a grid that `predict` gives the model, as cells along each axis. Empty: the whole grid.
  virtual std::vector<int64_t> window() const { return {}; }

  /// Whether `predict` takes batches on the CPU and moves only the part in work to the model's device. Callers then
  /// leave the batch on the CPU.
  virtual bool moves_inputs() const { return false; }

  /// A meter of this task's metrics; the units follow from the model's outputs.
  virtual std::unique_ptr<Meter> meter(const Interface& model) const = 0;
  virtual std::string headline() const = 0;  // the metric that picks `best`, unless train.best names another
  virtual bool lower_is_better() const { return true; }
  /// The metric nearest to the loss; lower is better. It decides between models whose chosen metric is the same.
  virtual std::string loss_metric() const { return headline(); }

  /// Metrics of simple predictions without a model ("no motion", "straight line"), to print beside the model's.
  virtual std::vector<std::pair<std::string, Metrics>> baselines(const Dataset&) const { return {}; }
};

std::unique_ptr<Task> make_task(const TaskOptions& options);

/// Checks that the data set has every label that the task needs: DataError with the labels it does have.
/// Of data that are `only_measured` it may lack those that the task measures without, unless they are left out.
void require_labels(const Task& task, const Schema& data, bool only_measured = false);

/// Whether predictions are derivatives of the model's outputs, as forces are (Task::differentiated_by). Null: they are not.
bool through_derivatives(const Task* task);

/// Floating-point operations of a batch of `tokens` tokens (models/work.h). For what is learned through derivatives, as
/// forces are, these are estimates: six forward passes for training, and three for predicting.
double training_flops(const Model& model, const Task* task, double tokens);
double predicting_flops(const Model& model, const Task* task, double tokens);

}  // namespace weyl
