#include "weyl/train/evaluate.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), training_(model.training()) { model_.train(false); }
  ~EvaluationMode() { model_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Model& model_;
  bool training_;
};

}  // namespace

Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const EvaluateOptions& options) {
  require<DataError>(data->size() > 0, "evaluate: data set must have samples, got none");
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode mode(model);
  const at::NoGradGuard no_grad;
  LoaderOptions loading;
  loading.batch = options.batch;
  loading.batch_tokens = options.batch_tokens;
  loading.shuffle = false;
  loading.dtype = model.dtype();
  loading.device = task.moves_inputs() ? at::Device(at::kCPU) : model.device();
  const Schema schema = data->schema();
  Loader loader(std::move(data), loading, 0);
  const auto meter = task.meter(model.interface);
  Evaluation result;
  loader.start(0);
  for (size_t number = 0;; ++number) {
    std::optional<Batch> batch;
    try {
      batch = loader.next();
      if (!batch) {
        break;
      }
      meter->add(*batch, task.predict(model, *batch));
    } catch (const ShapeError& error) {
      blame_sample(options.where, error, loader.plan(0).at(number), [&](int64_t sample) {
        const Batch alone = to(loader.data().batch({&sample, 1}), loading.device, loading.dtype);
        task.meter(model.interface)->add(alone, task.predict(model, alone));
      });
    }
    result.samples += batch->count();
    if (options.progress) {
      options.progress(result.samples);
    }
    if (options.stop && options.stop()) {
      result.stopped = true;
      break;
    }
  }
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
