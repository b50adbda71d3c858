#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/origin.h"
#include "weyl/saved/evaluate.h"
#include "weyl/saved/samples_without_axes.h"
#include "weyl/saved/saved_model.h"

namespace weyl {

struct PredictorOptions {
  at::Device device = at::kCPU;
  std::optional<at::ScalarType> dtype;  // absent: that of the model file
  /// The most that goes through the model at once: samples, tokens (a larger sample goes alone) and, where the system
  /// keeps edges, edges. Predictions do not depend on these limits, memory does.
  int64_t batch = 256;
  int64_t batch_tokens = 1 << 16;
  int64_t batch_edges = 1 << 17;
};

/// Calls back to whoever predicts over a set, between batches.
struct PredictorCalls {
  std::function<void(int64_t done)> progress;    // samples done
  std::function<bool()> stop;                    // true: no further batch
  std::function<void(const std::string&)> warn;  // a warning about the data, of each kind at most once
  bool by_sample = false;                        // `evaluate`: the metrics of each sample, too
  std::shared_ptr<Ranks> ranks;  // that share `each_predicted` and `evaluate`; null: this one alone
};

/// Predicts with a trained model: samples in, named outputs out. It loads a run or a model file, keeps batches within
/// bounds, and names the sample, not a shape, when one is refused. It knows no command line, log, exit code or signal.
/// Several threads may ask for predictions at once.
class Predictor {
 public:
  /// `path` is a run folder (its best checkpoint) or a model file. DataError, ConfigError: see load_model.
  explicit Predictor(const std::string& path, const PredictorOptions& options = {},
                     const Systems& systems = built_in_systems());
  /// For a model in memory. Without a task, predictions are the model's own outputs.
  explicit Predictor(SavedModel saved, const PredictorOptions& options = {});

  /// Adds another model of the same inputs. From now on predictions are means over all models, beside their standard
  /// deviations (saved/ensemble.h). `first` names this model in messages, `name` the other. The edges of the first
  /// model bound the batches. ConfigError: the inputs, the outputs or the training data of the models differ.
  void join(Predictor other, const std::string& first, const std::string& name);

  const SavedModel& saved() const { return saved_; }
  Model& model() const { return *saved_.model; }
  /// Null where predictions are the model's own outputs.
  const Task* task() const { return saved_.task.get(); }
  const Interface& interface() const { return model().interface; }
  const PredictorOptions& options() const { return options_; }
  /// Of all weights of all models: what tells them from others.
  uint64_t checksum() const;
  /// What each model knows of its training data, this one first.
  std::vector<SampleFacts> trained_on() const;
  /// What predictions are, with their units: the task's, else the model's outputs.
  const std::vector<Quantity>& outputs() const { return outputs_; }
  /// Those and what is asked for (Task::predictions_asked).
  std::vector<Quantity> outputs(const Asked& asked) const;
  /// How far a node can change what is said of another by any of the models, in their unit of length: the largest of
  /// Model::reach. Nothing where one has none, or says a mean over all nodes.
  std::optional<double> reach() const;
  /// Whether forces are derivatives of the energy.
  bool gradient_forces() const { return through_derivatives(task()); }
  /// What everyone who uses the predictions must know, a sentence each. `of_places`: also what places far from the origin lose,
  /// which data_warning says of the samples that have such.
  std::vector<std::string> notes(bool of_places = true) const;
  /// A sentence that says what precision is lost, where the model computes in float32, is not exact under translations,
  /// and a sample is farther from the origin than 1,024 times its own extent. Empty: nothing is lost.
  std::string data_warning(const Input& input) const;

  /// Predicts for a batch of any size and dtype, on the CPU or the device. Returns one tensor for each of `outputs`, by
  /// name, (L, c), (L, c, D) ..., on the device. ShapeError, which every system gives alike: the input is not what the model
  /// takes, a position is not finite, two atoms coincide (carriers/coincident_atoms.h).
  ///
  /// Samples far from the origin lose no precision where the model is exact under translations: points and poses are
  /// brought near the origin in float64 before they are rounded to the model's dtype, and outputs with a place are
  /// moved back in float64. `asked`: what the predictions hold beside `outputs`, which a model without a task cannot give.
  Named operator()(const Input& input, const Asked& asked = {}) const;

  /// The same for a batch of data. Where they have several places of each molecule (the label `conformers`), a task gives the
  /// mean over them that it has in training and evaluation.
  Named operator()(const Batch& batch) const;

  /// The predictions of this model without those joined to it. The task sees the labels: a task that goes step by step
  /// then goes at least as many steps as the labels have.
  Named as_far_as_labels(const Batch& batch) const;

  /// d(sum of the model's own scalar outputs of graphs)/d(positions), (N, D), on the CPU. ConfigError: the model has no
  /// such output, or it does not depend on the positions; the input is not points; there are several models.
  Tensor gradient(const Input& input, std::string_view where = "gradient") const;

  /// From now on predictions go `steps` steps, however many were trained; each step starts where the one before has
  /// left the bodies. `as_far_as_labels` goes at least as far. ConfigError: the task does not go step by step
  /// (Task::with_rollout).
  void roll_out(int64_t steps, std::string_view where = "rollout");

  /// Calls `use` with the samples [0, size) of a set in their order, a batch at a time, on the CPU: points and poses in
  /// float64, grids in the model's dtype. Returns how many samples were used: fewer than all when stopped. A
  /// ShapeError, also one from `use`, becomes a DataError that names the sample of `where`, which `use` has then been
  /// given twice.
  using Use = std::function<void(const Batch& batch)>;
  int64_t each(std::shared_ptr<const Dataset> data, const std::string& where, const Use& use,
               const PredictorCalls& calls = {}) const;
  /// The same in two parts: `use` gets what `predict` says of a batch, in the set's order. With calls.ranks the batches, which are
  /// those of one process, are shared: each rank predicts its own, and the first alone uses all, on the CPU
  /// (saved/each_batch.h).
  int64_t each_predicted(std::shared_ptr<const Dataset> data, const std::string& where,
                         const std::function<Named(const Batch&)>& predict,
                         const std::function<void(const Named&)>& use,
                         const PredictorCalls& calls = {}) const;

  /// A counter of the samples for which the first of the models that is run in principal axes is not exact.
  SamplesWithoutAxes without_axes() const;

  /// The task's metrics on a set with labels (saved/evaluate.h), within the bounds on batches. ConfigError: there is no
  /// task, or there are several models.
  Evaluation evaluate(std::shared_ptr<const Dataset> data, const std::string& where,
                      const PredictorCalls& calls = {}) const;

 private:
  Named predicted(const Input& input, const Named& labels, const Asked& asked) const;
  // Without the others.
  Named alone(const Input& input, const Named& labels, const Asked& asked) const;
  std::vector<Quantity> own_outputs(const Asked& asked) const;
  void set_outputs();
  Shift shift_of(const Input& input) const;
  Input placed(const Input& input, const Shift& shift, at::Device device) const;
  BatchOptions bounds(const std::string& where, const PredictorCalls& calls) const;

  SavedModel saved_;
  PredictorOptions options_;
  std::vector<Quantity> own_outputs_, outputs_;  // of this model alone, and of all models together
  std::vector<Predictor> others_;
  std::vector<std::string> names_of_others_;
  Centre centre_ = Centre::none;  // how samples are brought near the origin (centre_of)
  std::string note_on_places_;    // else, what is lost by that
};

}  // namespace weyl
