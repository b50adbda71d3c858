#include "weyl/train/loop/accumulate.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/train/loop/compute_settings.h"

namespace weyl {
namespace {

class Autocast {
 public:
  explicit Autocast(bool on) : on_(on) {
    if (on_) {
      at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
      at::autocast::set_autocast_enabled(at::kCUDA, true);
    }
  }
  ~Autocast() {
    if (on_) {
      at::autocast::set_autocast_enabled(at::kCUDA, false);
      at::autocast::clear_cache();
    }
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
};

}  // namespace

void add_gradients(const Tensor& loss, const Model& model) {
  std::vector<Tensor> by;
  for (const Parameter& p : model.parameters()) {
    if (p.tensor.requires_grad()) {
      by.push_back(p.tensor);
    }
  }
  loss.backward({}, std::nullopt, false, at::TensorList(by));
}

Tensor accumulate_gradients(Model& model, const Task& task, std::span<const Batch> batches,
                            const TrainOptions& options, StepTimes& times) {
  require(!batches.empty(), "accumulate_gradients: there must be a batch, got none");
  const Tf32 tf32(options.tf32 && model.device().is_cuda());
  double graphs = 0;
  for (const auto& batch : batches) {
    graphs += static_cast<double>(batch.count());
  }
  Tensor loss;
  for (const auto& batch : batches) {
    const double share = static_cast<double>(batch.count()) / graphs;
    Step step;
    {
      const Timed timed(times.forward);
      const Autocast autocast(options.precision == Precision::bf16);
      step = task.step(model, batch);
      const Tensor part = step.loss.detach().to(at::kDouble) * share;
      loss = loss.defined() ? loss + part : part;
    }
    const Timed timed(times.backward);
    add_gradients(step.loss * share, model);
  }
  return loss;
}

}  // namespace weyl
