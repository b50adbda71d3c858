#include "weyl/saved/evaluate.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/models/constant_weights.h"

namespace weyl {
namespace {

// Weights are constants meanwhile.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), training_(model.training()), constant_(model) {
    model_.train(false);
  }
  ~EvaluationMode() { model_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Model& model_;
  bool training_;
  ConstantWeights constant_;
};

}  // namespace

Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const BatchOptions& options) {
  require<DataError>(data->size() > 0, "evaluate: data set must have samples, got none");
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode mode(model);
  const at::NoGradGuard no_grad;
  const Schema schema = data->schema();
  const int64_t size = data->size();
  const auto meter = task.meter(model.interface);
  Evaluation result;
  result.samples =
      each_batch(model, std::move(data), options, task.moves_inputs() ? Form::ready_on_cpu : Form::ready,
                 [&](const Batch& batch) { meter->add(batch, task.predict(model, batch)); });
  result.stopped = result.samples < size;
  result.metrics = meter->values();
  result.confusion = meter->confusion();
  result.breakdowns = meter->breakdowns(schema);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<LabelCount> count_labels(const Task& task, const Dataset& data, const std::string& what) {
  constexpr int64_t at_a_time = 1024;
  try {
    require_labels(task, data.schema());
  } catch (const DataError& error) {
    throw DataError(text(what, ": ", error.what()));
  }
  std::vector<LabelCount> counts;
  for (const auto& label : task.labels()) {
    counts.push_back({*find_quantity(data.schema().labels, label.name)});
  }
  // A category cannot be missing: no need to read every image to know that it has a class.
  const auto wanted = task.labels();
  const bool grids = data.schema().carrier() == Carrier::grid;
  if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& q) {
        return q.kind == Kind::category && (q.level == Level::graph || (q.level == Level::node && grids));
      })) {
    for (auto& count : counts) {
      count.known = count.all = data.size();
    }
    return counts;
  }
  std::vector<int64_t> which(at_a_time);
  for (int64_t begin = 0; begin < data.size(); begin += at_a_time) {
    which.resize(std::min(at_a_time, data.size() - begin));
    std::iota(which.begin(), which.end(), begin);
    const Batch batch = data.batch(which);
    for (auto& count : counts) {
      const Tensor& values = batch.labels.at(count.label.name);
      const int64_t rows = values.dim() > 0 ? values.size(0) : 0;
      count.all += rows;
      if (values.numel() > 0) {
        count.known +=
            rows - at::isnan(values).reshape({rows, values.numel() / rows}).any(1).sum().item<int64_t>();
      }
    }
  }
  for (const auto& count : counts) {
    require<ConfigError>(count.known > 0, "task ", task.name(), ": ", what, " must have some label '",
                         count.label.name, "', got none that is not NaN");
  }
  return counts;
}

}  // namespace weyl
