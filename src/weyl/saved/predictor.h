#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/origin.h"
#include "weyl/saved/evaluate.h"
#include "weyl/saved/saved_model.h"

namespace weyl {

struct PredictorOptions {
  at::Device device = at::kCPU;
  std::optional<at::ScalarType> dtype;  // absent: that of the model's file
  /// What goes through the model at once, at most: samples, tokens (a larger sample goes alone) and, where the
  /// system keeps edges, edges. Predictions do not depend on them, memory does.
  int64_t batch = 256;
  int64_t batch_tokens = 1 << 16;
  int64_t batch_edges = 1 << 17;
};

/// What whoever predicts over a set is told, and asked, between batches.
struct PredictorCalls {
  std::function<void(int64_t done)> progress;    // samples done
  std::function<bool()> stop;                    // true: no further batch
  std::function<void(const std::string&)> warn;  // a doubt about the data, once
};

/// A trained model at work: samples in, named outputs out. Loads a run or a model file, keeps batches within bounds
/// and speaks of samples, not of shapes, when one is refused. Knows no command line, log, exit code or signal.
/// Predictions may be asked for from several threads at once.
class Predictor {
 public:
  /// `path` is a run folder (its best checkpoint) or a model file. DataError, ConfigError: see load_model.
  explicit Predictor(const std::string& path, const PredictorOptions& options = {},
                     const Systems& systems = built_in_systems());
  /// For a model that is there already; without a task predictions are the model's own outputs.
  explicit Predictor(SavedModel saved, const PredictorOptions& options = {});

  /// Another model of the same inputs, which `name` stands for in messages, as `first` does for this one: from now on
  /// predictions are means over all of them, beside their standard deviations (saved/ensemble.h). Batches are bounded
  /// by the edges of the first. ConfigError: what the models are told or say, or the data that they were trained on, differs.
  void join(Predictor other, const std::string& first, const std::string& name);

  const SavedModel& saved() const { return saved_; }
  Model& model() const { return *saved_.model; }
  /// Null where predictions are the model's own outputs.
  const Task* task() const { return saved_.task.get(); }
  const Interface& interface() const { return model().interface; }
  const PredictorOptions& options() const { return options_; }
  /// What each model keeps of the data that it was trained on, this one first.
  std::vector<SampleFacts> trained_on() const;
  /// What predictions are, with their units: the task's, else the model's outputs.
  const std::vector<Quantity>& outputs() const { return outputs_; }
  /// What everyone who uses them must know, a sentence each.
  std::vector<std::string> notes() const;
  /// What is lost of samples that are farther from the origin than 1,024 times their own extent, where the model is not
  /// exact under translations: a sentence; empty: nothing.
  std::string doubt(const Input& input) const;

  /// Predicts for a batch of any size and dtype, on the CPU or the device: one tensor for each of `outputs`, by name,
  /// (L, c), (L, c, D) ..., on the device. Points and poses of a model that is exact under translations are brought
  /// near the origin in float64 before they are rounded to its dtype, and what has a place is moved back, in float64, so
  /// that samples far from the origin lose nothing. ShapeError: the input is not what the model takes.
  Named operator()(const Input& input) const;

  /// The predictions of this model alone, with the labels for its task, which may hold as many steps as a task that goes
  /// step by step is to go.
  Named as_far_as_labels(const Batch& batch) const;

  /// d(sum of the model's own scalar outputs of graphs)/d(positions), (N, D), on the CPU. ConfigError: the model has no
  /// such output, or it does not depend on the positions; the input is not points; there are several models.
  Tensor gradient(const Input& input, std::string_view where = "gradient") const;

  /// Where forces are gradients: predictions also hold the `stress` of periodic graphs, whatever was trained. Without
  /// effect for other tasks.
  void give_stress();

  /// Predictions, and what `as_far_as_labels` gives at least, go so many steps, each from where the one before has left
  /// the bodies, however many were trained. ConfigError: the task does not go step by step (Task::with_rollout).
  void roll_out(int64_t steps, std::string_view where = "rollout");

  /// Calls `use` with the samples [0, size) of a set in their order, a batch at a time, on the CPU, points and poses in
  /// float64, grids in the model's dtype. Returns how many were used: fewer when stopped.
  /// A ShapeError, of `use` too, becomes a DataError that names the sample of `where`, which `use` has then seen twice.
  using Use = std::function<void(const Batch& batch)>;
  int64_t each(std::shared_ptr<const Dataset> data, const std::string& where, const Use& use,
               const PredictorCalls& calls = {}) const;

  /// The task's metrics on a set with labels (saved/evaluate.h), in batches of these bounds.
  Evaluation evaluate(std::shared_ptr<const Dataset> data, const std::string& where,
                      const PredictorCalls& calls = {}) const;

 private:
  Named alone(const Input& input, const Named& labels = {}) const;  // without the others
  void set_outputs();
  Shift shift_of(const Input& input) const;
  Input placed(const Input& input, const Shift& shift, at::Device device) const;
  BatchOptions bounds(const std::string& where, const PredictorCalls& calls) const;

  SavedModel saved_;
  PredictorOptions options_;
  std::vector<Quantity> own_outputs_, outputs_;  // of this model alone; of all together
  std::vector<Predictor> others_;
  std::vector<std::string> names_of_others_;
  bool centres_ = false;        // samples are brought near the origin: the model is exact under translations
  std::string note_on_places_;  // else, what is lost by that
};

}  // namespace weyl
