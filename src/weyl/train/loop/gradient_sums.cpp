#include "weyl/train/loop/gradient_sums.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/parallel/shares.h"

namespace weyl {
namespace {

/// Calls back when the gradient of a parameter has been added to what it had.
class WhenDone : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit WhenDone(std::function<void()> call) : call_(std::move(call)) {}
  void operator()(const torch::autograd::Variable&) override { call_(); }

 private:
  std::function<void()> call_;
};

}  // namespace

struct GradientSums::Sums {
  struct Part {  // parameters of one dtype that are summed as one tensor
    std::vector<size_t> parameters;
    Tensor values;
    int64_t missing = 0;  // gradients that have not come yet
    std::optional<Ranks::Sum> sum;
  };

  std::shared_ptr<Ranks> ranks;
  std::vector<Tensor> weights;
  std::vector<Part> parts;
  std::vector<size_t> part_of;  // by parameter
  std::vector<char> come;
  size_t next = 0;  // the first part that is not on its way
  bool at_once = true, begun = false;
  std::mutex mutex;

  void done(size_t parameter) {
    const std::lock_guard lock(mutex);
    if (begun && come[parameter] == 0) {
      come[parameter] = 1;
      --parts[part_of[parameter]].missing;
      for (; next < parts.size() && parts[next].missing == 0; ++next) {
        send(parts[next]);
      }
    }
  }

  /// Every rank sends its parts in one order.
  void send(Part& part) const {
    const at::NoGradGuard quiet;
    int64_t at = 0;
    for (const size_t p : part.parameters) {
      const Tensor into = part.values.narrow(0, at, weights[p].numel());
      if (weights[p].grad().defined()) {
        into.copy_(weights[p].grad().reshape(-1));
      } else {
        into.zero_();
      }
      at += weights[p].numel();
    }
    part.sum = ranks->start_sum(part.values);
  }

  void take(Part& part, const Tensor& used) const {
    part.sum->wait();
    part.sum.reset();
    const at::NoGradGuard quiet;
    const auto* uses = used.const_data_ptr<double>();
    int64_t at = 0;
    for (const size_t p : part.parameters) {
      const Tensor sum = part.values.narrow(0, at, weights[p].numel()).view(weights[p].sizes());
      at += weights[p].numel();
      if (uses[p] == 0) {
        continue;
      }
      if (!weights[p].grad().defined()) {
        weights[p].mutable_grad() = at::zeros_like(weights[p]);
      }
      weights[p].grad().copy_(sum);
    }
  }
};

GradientSums::GradientSums(std::shared_ptr<Ranks> ranks, const std::vector<Parameter>& parameters,
                           int64_t bucket_size, bool at_once)
    : sums_(std::make_unique<Sums>()) {
  Sums& s = *sums_;
  s.ranks = std::move(ranks);
  s.at_once = at_once;
  std::vector<int64_t> bytes;
  for (const Parameter& p : parameters) {
    if (p.tensor.requires_grad()) {
      s.weights.push_back(p.tensor);
      bytes.push_back(p.tensor.numel() * static_cast<int64_t>(p.tensor.element_size()));
    }
  }
  s.part_of.resize(s.weights.size());
  s.come.resize(s.weights.size());
  for (const Bucket& bucket : buckets_of(bytes, bucket_size)) {
    for (const size_t p : bucket.parameters) {
      const auto dtype = s.weights[p].scalar_type();
      const bool joins = p != bucket.parameters.front() &&
                         s.weights[s.parts.back().parameters.back()].scalar_type() == dtype;
      if (!joins) {
        s.parts.emplace_back();
      }
      s.parts.back().parameters.push_back(p);
      s.part_of[p] = s.parts.size() - 1;
    }
  }
  for (Sums::Part& part : s.parts) {
    int64_t numbers = 0;
    for (const size_t p : part.parameters) {
      numbers += s.weights[p].numel();
    }
    part.values = at::empty({numbers}, s.weights[part.parameters.front()].options().requires_grad(false));
  }
  for (size_t p = 0; p < s.weights.size(); ++p) {
    torch::autograd::impl::set_post_acc_grad_hooks(
        s.weights[p], std::make_unique<WhenDone>([sums = sums_.get(), p] { sums->done(p); }));
  }
}

GradientSums::~GradientSums() {
  for (const Tensor& weight : sums_->weights) {
    torch::autograd::impl::set_post_acc_grad_hooks(weight, nullptr);
  }
}

const std::shared_ptr<Ranks>& GradientSums::ranks() const {
  return sums_->ranks;
}

std::vector<Tensor> GradientSums::whole(const std::vector<Tensor>& numbers) {
  require(static_cast<int64_t>(numbers.size()) <= most_terms, "gradient sums: a loss may have ", most_terms,
          " terms, got ", numbers.size());
  const Tensor all =
      at::zeros({most_terms}, at::kDouble);  // a rank without samples does not know how many there are
  for (size_t t = 0; t < numbers.size(); ++t) {
    all[static_cast<int64_t>(t)] = numbers[t].to(at::kCPU, at::kDouble);
  }
  sums_->ranks->sum(all);
  std::vector<Tensor> result;
  for (size_t t = 0; t < numbers.size(); ++t) {
    result.push_back(all[static_cast<int64_t>(t)]);
  }
  return result;
}

void GradientSums::begin() {
  Sums& s = *sums_;
  std::ranges::fill(s.come, char{0});
  for (Sums::Part& part : s.parts) {
    part.missing = static_cast<int64_t>(part.parameters.size());
  }
  s.next = 0;
  s.begun = s.at_once;
}

Tensor GradientSums::finish(const Tensor& loss) {
  Sums& s = *sums_;
  s.begun = false;
  for (; s.next < s.parts.size(); ++s.next) {  // with parameters that this rank has not used
    s.send(s.parts[s.next]);
  }
  // The loss, and who has used which parameter, behind the last part.
  const size_t at_told = s.weights.size() + 1;
  const Tensor rest = at::zeros({static_cast<int64_t>(at_told + told.size())}, at::kDouble);
  auto* numbers = rest.mutable_data_ptr<double>();
  for (size_t p = 0; p < s.weights.size(); ++p) {
    numbers[p] = s.weights[p].grad().defined() ? 1 : 0;
  }
  numbers[s.weights.size()] = loss.defined() ? loss.detach().item<double>() : 0;
  std::ranges::copy(told, numbers + at_told);
  s.ranks->sum(rest);
  std::copy_n(numbers + at_told, told.size(), told.begin());
  for (Sums::Part& part : s.parts) {
    s.take(part, rest);
  }
  return rest[static_cast<int64_t>(s.weights.size())].clone();
}

}  // namespace weyl
