#include "weyl/ops/autograd/recompute.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace weyl {
namespace {

using torch::autograd::AutogradContext;

/// The switches under which f ran. While one lives, they stand again.
class Autocast {
 public:
  Autocast(at::DeviceType device, bool on, at::ScalarType dtype)
      : device_(device),
        was_on_(at::autocast::is_autocast_enabled(device)),
        was_cached_(at::autocast::is_autocast_cache_enabled()),
        was_dtype_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, on);
    at::autocast::set_autocast_dtype(device, dtype);
    // A cast weight that is kept while gradients are off would have none when they are on.
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(device_, was_on_);
    at::autocast::set_autocast_dtype(device_, was_dtype_);
    at::autocast::set_autocast_cache_enabled(was_cached_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_on_, was_cached_;
  at::ScalarType was_dtype_;
};

Tensor state_of(at::Generator& generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator& generator, const Tensor& state) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

/// While one lives, torch's generator draws what it drew from `state` on.
class Draws {
 public:
  Draws(at::Generator generator, const Tensor& state)
      : generator_(std::move(generator)), before_(state_of(generator_)) {
    set_state(generator_, state);
  }
  ~Draws() { set_state(generator_, before_); }
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

 private:
  at::Generator generator_;
  Tensor before_;
};

struct RecomputeRecord : torch::CustomClassHolder {
  std::function<Tensor(const Tensors&)> f;
  std::vector<bool> defined;  // of f's inputs
  at::Device device = at::kCPU;
  bool autocast = false;
  at::ScalarType autocast_dtype = at::kFloat;
  Switches switches;
  Tensor draws;  // the generator's state

  Tensor run(const Tensors& inputs) const {
    const Autocast cast(device.type(), autocast, autocast_dtype);
    const Switches::Again again(switches);
    return f(inputs);
  }

  /// The tensors of a node are f's defined inputs, then weights.
  Tensors inputs_of(const Tensors& tensors) const {
    Tensors inputs;
    size_t next = 0;
    for (const bool is_defined : defined) {
      inputs.push_back(is_defined ? tensors[next++] : Tensor());
    }
    return inputs;
  }
};
using RecomputeRecordPtr = c10::intrusive_ptr<RecomputeRecord>;

struct RecomputeNode : torch::autograd::Function<RecomputeNode> {
  static Tensor forward(AutogradContext* ctx, at::TensorList tensors, const RecomputeRecordPtr& record) {
    const Tensors all(tensors.begin(), tensors.end());
    ctx->save_for_backward(all);
    ctx->saved_data["record"] = c10::IValue::make_capsule(record);
    return record->run(record->inputs_of(all));
  }

  static Tensors backward(AutogradContext* ctx, const Tensors& incoming) {
    const auto record =
        c10::static_intrusive_pointer_cast<RecomputeRecord>(ctx->saved_data.at("record").toCapsule());
    const bool create_graph = at::GradMode::is_enabled();
    const at::AutoGradMode on(true);
    Tensors all = ctx->get_saved_variables(), wanted;
    const auto inputs = static_cast<size_t>(std::count(record->defined.begin(), record->defined.end(), true));
    for (size_t i = 0; i < all.size(); ++i) {
      const bool needed = ctx->needs_input_grad(i);
      if (i < inputs) {  // a node of its own, so that the derivative sees no other path
        all[i] = create_graph && all[i].requires_grad() ? all[i].view_as(all[i])
                                                        : all[i].detach().requires_grad_(needed);
      }
      if (needed) {
        wanted.push_back(all[i]);
      }
    }
    Tensor y;
    {
      const Draws draws(at::globalContext().defaultGenerator(record->device), record->draws);
      y = record->run(record->inputs_of(all));
    }
    const Tensors found =
        torch::autograd::grad({y}, wanted, incoming, create_graph, create_graph, /*allow_unused=*/true);
    Tensors result;
    size_t next = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      result.push_back(ctx->needs_input_grad(i) ? found[next++] : Tensor());
    }
    result.emplace_back();  // the record
    return result;
  }
};

}  // namespace

Tensor recomputed(std::function<Tensor(const Tensors&)> f, const Tensors& inputs, const Tensors& weights) {
  Tensors all;
  auto record = c10::make_intrusive<RecomputeRecord>();
  bool differentiated = false;
  for (const Tensor& x : inputs) {
    record->defined.push_back(x.defined());
    if (x.defined()) {
      all.push_back(x);
      record->device = x.device();
    }
  }
  all.insert(all.end(), weights.begin(), weights.end());
  for (const Tensor& x : all) {
    differentiated = differentiated || x.requires_grad();
  }
  if (!differentiated || !at::GradMode::is_enabled()) {
    return f(inputs);
  }
  const at::DeviceType device = record->device.type();
  record->f = std::move(f);
  record->autocast = at::autocast::is_autocast_enabled(device);
  record->autocast_dtype = at::autocast::get_autocast_dtype(device);
  at::Generator generator = at::globalContext().defaultGenerator(record->device);
  record->draws = state_of(generator);
  return RecomputeNode::apply(at::TensorList(all), record);
}

}  // namespace weyl
