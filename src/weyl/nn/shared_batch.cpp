#include "weyl/nn/shared_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "weyl/ops/autograd/sum_over_ranks.h"

namespace weyl {
namespace {

struct Shared {
  std::shared_ptr<Ranks> ranks;
  bool counts = true;
};

Shared& shared() {
  thread_local Shared now;
  return now;
}

}  // namespace

SharedBatch::SharedBatch(std::shared_ptr<Ranks> ranks, bool counts)
    : before_(std::exchange(shared().ranks, std::move(ranks))),
      counted_before_(std::exchange(shared().counts, counts)) {}

SharedBatch::~SharedBatch() {
  shared() = {std::move(before_), counted_before_};
}

bool SharedBatch::active() {
  return shared().ranks != nullptr;
}

Tensor over_the_batch(const Tensor& sums) {
  if (!SharedBatch::active()) {
    return sums;
  }
  return sum_over_ranks(shared().counts ? sums : sums * 0, shared().ranks);
}

BatchMoments moments_of_shared_batch(const Tensor& x) {
  const int64_t C = x.size(0), n = x.size(1);
  // About the mean of this part, so that few digits of the squares are lost.
  const Tensor middle = n > 0 ? x.detach().mean(1) : at::zeros({C}, x.options().requires_grad(false));
  const Tensor off = x - middle.unsqueeze(1), m = middle.to(at::kDouble);
  const Tensor sum = off.sum(1, false, at::kDouble), square = off.square().sum(1, false, at::kDouble);
  const auto count = static_cast<double>(n);
  const Tensor all = over_the_batch(at::cat(
      {at::full({1}, count, m.options()), sum + count * m, square + 2 * m * sum + count * m.square()}));
  BatchMoments moments{.count = all.detach()[0].item<double>()};
  if (moments.count > 0) {
    moments.mean = all.slice(0, 1, 1 + C) / moments.count;
    moments.variance = (all.slice(0, 1 + C) / moments.count - moments.mean.square()).clamp_min(0);
  }
  return moments;
}

}  // namespace weyl
