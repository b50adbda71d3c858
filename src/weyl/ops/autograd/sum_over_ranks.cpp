#include "weyl/ops/autograd/sum_over_ranks.h"

#include <ATen/ops/zeros_like.h>

#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Linear and its own transpose.
class SumOverRanks : public Differentiable {
 public:
  explicit SumOverRanks(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}

  Tensors reference(const Tensors&) const override {
    require(false, "sum over ranks: must not be asked for as an expression of one process");
    return {};
  }
  bool has_forward(const Tensors&) const override { return true; }
  Tensors forward(const Tensors& inputs) const override { return {summed(inputs[0])}; }
  bool has_backward(const Tensors&) const override { return true; }
  Tensors backward(const Tensors&, const Tensors&, const Tensors& gradients,
                   const std::vector<bool>&) const override {
    return {summed(gradients[0])};
  }
  bool has_second(const Tensors&) const override { return true; }
  Tensors second(const Tensors& inputs, const Tensors&, const Tensors&, const Tensors& gradients,
                 const std::vector<bool>&) const override {
    return {at::zeros_like(inputs[0]),
            summed(gradients[0].defined() ? gradients[0] : at::zeros_like(inputs[0]))};
  }

 private:
  Tensor summed(const Tensor& x) const {
    const Tensor sum = x.detach().clone(at::MemoryFormat::Contiguous);
    ranks_->sum(sum);
    return sum;
  }

  std::shared_ptr<Ranks> ranks_;
};

}  // namespace

Tensor sum_over_ranks(const Tensor& x, std::shared_ptr<Ranks> ranks) {
  return call(std::make_shared<SumOverRanks>(std::move(ranks)), {x})[0];
}

}  // namespace weyl
