#include "weyl/train/loop/accumulate.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/zeros_like.h>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/nn/shared_batch.h"
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

/// Of each batch its shares of the loss; none where it is alone.
std::vector<LossShares> loss_shares(const Model& model, const Task& task, std::span<const Batch> batches,
                                    GradientSums* ranks, const std::vector<bool>& counted) {
  std::vector<LossShares> shares(batches.size());
  if (batches.size() == 1 && ranks == nullptr) {
    return shares;
  }
  std::vector<Tensor> whole;
  for (size_t k = 0; k < batches.size(); ++k) {
    shares[k] = task.loss_weights(batches[k], model.interface);
    for (Tensor& share : shares[k]) {
      share = counted.empty() || counted[k] ? share : at::zeros_like(share);
    }
    for (size_t term = 0; term < shares[k].size(); ++term) {
      if (k == 0) {
        whole.push_back(shares[k][term]);
      } else {
        whole[term] = whole[term] + shares[k][term];
      }
    }
  }
  if (ranks != nullptr) {
    whole = ranks->whole(whole);
  }
  for (LossShares& of_batch : shares) {
    for (size_t term = 0; term < of_batch.size(); ++term) {
      // Where no batch has a label, each gives 0.
      of_batch[term] = of_batch[term] / whole[term].masked_fill(whole[term] <= 0, 1);
    }
  }
  return shares;
}

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
                            const TrainOptions& options, StepTimes& times, GradientSums* ranks,
                            const std::vector<bool>& counted) {
  require(!batches.empty() || ranks != nullptr, "accumulate_gradients: there must be a batch, got none");
  const Tf32 tf32(options.tf32 && model.device().is_cuda());
  const std::vector<LossShares> shares = loss_shares(model, task, batches, ranks, counted);
  Tensor loss;
  for (size_t k = 0; k < batches.size(); ++k) {
    Step step;
    std::optional<SharedBatch> shared;
    if (!counted.empty()) {
      shared.emplace(ranks->ranks(), counted[k]);
    }
    {
      const Timed timed(times.forward);
      const Autocast autocast(options.precision == Precision::bf16);
      step = task.step(model, batches[k], shares[k]);
      const Tensor part = step.loss.detach().to(at::kDouble);
      loss = loss.defined() ? loss + part : part;
    }
    const Timed timed(times.backward);
    if (ranks != nullptr && k + 1 == batches.size()) {
      ranks->begin();
    }
    add_gradients(step.loss, model);
  }
  if (ranks == nullptr) {
    return loss;
  }
  if (batches.empty()) {
    ranks->begin();
  }
  const Timed timed(times.backward);
  return ranks->finish(loss);
}

}  // namespace weyl
