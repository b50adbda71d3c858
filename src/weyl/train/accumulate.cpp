#include "weyl/train/accumulate.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>

#include <vector>

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

double accumulate_gradients(Model& model, const Task& task, std::span<const Batch> batches,
                            Precision precision, StepTimes& times) {
  double graphs = 0;
  for (const auto& batch : batches) {
    graphs += static_cast<double>(batch.count());
  }
  double loss = 0;
  for (const auto& batch : batches) {
    const double share = static_cast<double>(batch.count()) / graphs;
    Step step;
    {
      const Timed timed(times.forward);
      const Autocast autocast(precision == Precision::bf16);
      step = task.step(model, batch);
      loss += share * step.loss.item<double>();
    }
    const Timed timed(times.backward);
    add_gradients(step.loss * share, model);
  }
  return loss;
}

}  // namespace weyl
