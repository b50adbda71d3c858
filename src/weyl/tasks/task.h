#pragma once

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
};

/// How often each class was taken for each: `counts` (K, K), row by row, rows the truth.
struct Confusion {
  std::vector<std::string> classes;
  std::vector<int64_t> counts;
};

/// Metrics of the parts of a data set: of each element, say, or of each kind of frame.
struct Breakdown {
  std::string by;
  std::vector<std::pair<std::string, Metrics>> rows;
};

/// Accumulates metrics over batches: exact sums and weights, or what a median or a Dice score needs.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual void add(const Batch& batch, const Named& predictions) = 0;
  /// Adds what another meter of the same task has seen, as if this one had seen it: several processes each
  /// measure a part of the data. Counts, and what is kept sample by sample, come out exactly as of one meter
  /// that saw all; sums of real numbers are added in another order and agree to rounding. ShapeError: a meter
  /// of another kind, or of other classes, targets or units.
  virtual void merge(const Meter& other) = 0;
  virtual Metrics values() const = 0;
  /// All names that `values` may have on samples of such data, whether or not a sample defines them (a class that does
  /// not occur has no accuracy). Data are not read.
  virtual std::vector<MetricName> names(const Schema& data) const = 0;
  virtual std::optional<Confusion> confusion() const { return {}; }  // of tasks with classes
  /// `data` has the names of parts.
  virtual std::vector<Breakdown> breakdowns(const Schema& /*data*/) const { return {}; }
};

/// `other` as a meter of kind M, which `merge` needs: ShapeError when it is of another.
template <class M>
const M& same_kind(const Meter& other, const char* task) {
  const auto* same = dynamic_cast<const M*>(&other);
  require(same != nullptr, task, ": a meter must be merged with one of its own kind, got another");
  return *same;
}

/// What one batch gives: the loss (a scalar with a graph when training) and predictions in the data's units.
struct Step {
  Tensor loss;
  Named predictions;
};

/// How a prediction follows from the output of weights that were trained elsewhere: scale y + shift.
struct OutputLaw {
  double scale = 1, shift = 0;  // both in the unit of the prediction; the shift once for a graph
  /// Which types of nodes the weights were trained on: others count as unseen; empty: none does.
  std::vector<bool> trained;

  /// Whether predictions are the outputs.
  bool plain() const { return scale == 1 && shift == 0; }
};

/// What is learned: which labels, which outputs, which loss, which metrics. A task never names a system.
class Task {
 public:
  virtual ~Task() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Quantity> labels() const = 0;  // what the loss needs; 0 channels: any number of them
  virtual Interface interface(const Schema& data) const = 0;  // the data's, with the outputs wanted
  /// What `predict` returns, for audits and files.
  virtual std::vector<Quantity> predictions(const Interface& model) const = 0;

  virtual void fit(const Dataset& train) = 0;  // statistics of the data
  /// In place of `fit`, for weights from elsewhere: their outputs are the predictions, but for `law`. False, and nothing
  /// changes, where a task cannot: it needs a training set, or has no place for a scale or a shift.
  virtual bool adopt(const Schema& /*data*/, const OutputLaw& law) { return law.plain(); }
  /// After `fit`, for a model that goes on from the weights of another, whose task was `before`: takes over the
  /// scales and shifts that give the outputs their meaning, so that it predicts what the other did. `from`, `to`: the
  /// interfaces of the two models, the types of `from` the first of `to`. False, and nothing changes, where there are
  /// no such numbers, or `before` has others. ConfigError: a unit that does not fit.
  virtual bool keep(const Task& /*before*/, const Interface& /*from*/, const Interface& /*to*/) {
    return false;
  }
  /// After `keep`: moves what the predictions have beside the model's outputs (references by composition, means) by
  /// what they leave of the labels, in least squares. `outputs`: the model's of graphs, on all samples in their order,
  /// (B, c) float64.
  virtual void refer(const Dataset& /*train*/, const Named& /*outputs*/) {}
  virtual NamedTensors state() const = 0;  // those statistics, float64
  virtual void load(const NamedTensors& state) = 0;

  /// Looks at the values of a batch of training that is on the CPU and goes to another device, where looking at them would
  /// be waiting for it: ShapeError where `step` would refuse them. May add labels that follow from those that there are.
  /// On the CPU `step` does without.
  virtual void prepare(Batch& /*batch*/, const Interface& /*model*/) const {}
  /// Input and weights share a dtype; labels are float64. `predict` needs no labels.
  virtual Step step(Model& model, const Batch& batch) const = 0;
  virtual Named predict(Model& model, const Batch& batch) const = 0;

  /// What everyone who uses its predictions must know, a sentence each: printed by `train`, `eval` and
  /// `predict`, written into the model card.
  virtual std::vector<std::string> notes() const { return {}; }

  /// The option by which predictions are derivatives of the model's outputs by positions, as forces are, in the words
  /// of a config; empty: they are not.
  virtual std::string differentiated_by() const { return ""; }
  /// This task with its statistics, whose predictions hold the stress of periodic graphs as well; null where nothing
  /// is to be added.
  virtual std::unique_ptr<Task> with_stress() const { return nullptr; }
  /// This task with its statistics, whose predictions go so many steps, each from where the one before has left the
  /// input; null of tasks that do not go step by step. ConfigError: a feature of the model's inputs that cannot be moved.
  virtual std::unique_ptr<Task> with_rollout(int64_t /*steps*/, const Interface& /*model*/) const {
    return nullptr;
  }
  /// Cells along each axis of the windows of a grid that `predict` gives the model; empty: whole grids.
  virtual std::vector<int64_t> window() const { return {}; }

  /// Whether `predict` takes batches on the CPU and moves to the model's device only what that works on: who
  /// gives it one then leaves it there.
  virtual bool moves_inputs() const { return false; }

  /// Units are those of the model's outputs.
  virtual std::unique_ptr<Meter> meter(const Interface& model) const = 0;
  virtual std::string headline() const = 0;  // the metric that picks `best`, unless train.best names another
  virtual bool lower_is_better() const { return true; }
  /// The metric nearest to the loss, lower is better: it decides between models whose chosen metric is the same.
  virtual std::string loss_metric() const { return headline(); }

  /// Metrics of simple answers without a model ("no motion", "straight line"), to print beside.
  virtual std::vector<std::pair<std::string, Metrics>> baselines(const Dataset&) const { return {}; }
};

std::unique_ptr<Task> make_task(const TaskOptions& options);

/// Checks that the data set has every label that the task needs: DataError with the labels it does have.
void require_labels(const Task& task, const Schema& data);

}  // namespace weyl
