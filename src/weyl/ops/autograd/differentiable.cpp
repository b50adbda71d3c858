#include "weyl/ops/autograd/differentiable.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <utility>

namespace weyl {
namespace {

using torch::autograd::AutogradContext;

thread_local int expecting_second = 0;
thread_local int using_references = 0;
thread_local PlainAttention plain_attention = PlainAttention::pairs;

/// What a node of the graph keeps beside its saved tensors.
struct NodeRecord : torch::CustomClassHolder {
  std::shared_ptr<const Differentiable> op;
  bool by_kernel = true;      // the forward; else by the torch expression, which derivatives work out again
  std::vector<bool> defined;  // of the op's inputs
  std::vector<bool> needed;   // of a backward: which gradients it computed
  Tensors outputs;            // of a backward: the detached outputs of the forward
  Switches switches;          // of the call
};
using NodeRecordPtr = c10::intrusive_ptr<NodeRecord>;

NodeRecordPtr record_of(AutogradContext* ctx) {
  return c10::static_intrusive_pointer_cast<NodeRecord>(ctx->saved_data.at("record").toCapsule());
}

Tensors only_defined(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& t : tensors) {
    if (t.defined()) {
      result.push_back(t);
    }
  }
  return result;
}

/// Puts consecutive tensors of `dense` where `present` is set, undefined ones elsewhere.
Tensors spread(const Tensors& dense, size_t& next, const std::vector<bool>& present) {
  Tensors result(present.size());
  for (size_t i = 0; i < present.size(); ++i) {
    if (present[i]) {
      result[i] = dense[next++];
    }
  }
  return result;
}

/// The same value as a node of its own, so that a derivative with respect to it sees no other path: two
/// inputs of an op may depend on one another outside.
Tensor alias(const Tensor& x, bool keep_graph) {
  if (!x.defined() || !x.is_floating_point()) {
    return x;
  }
  return keep_graph && x.requires_grad() ? x.view_as(x) : x.detach().requires_grad_();
}

Tensors aliases(const Tensors& xs, bool keep_graph) {
  Tensors result;
  for (const Tensor& x : xs) {
    result.push_back(alias(x, keep_graph));
  }
  return result;
}

/// d(sum ys . gys)/dxs for the xs whose `needed` is set; undefined where zero.
Tensors gradient(const Tensors& ys, const Tensors& gys, const Tensors& xs, const std::vector<bool>& needed,
                 bool create_graph) {
  Tensors y, gy, x, result(xs.size());
  for (size_t i = 0; i < ys.size(); ++i) {
    if (ys[i].defined() && gys[i].defined() && ys[i].requires_grad()) {
      y.push_back(ys[i]);
      gy.push_back(gys[i]);
    }
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    if (needed[i]) {
      x.push_back(xs[i]);
    }
  }
  if (y.empty() || x.empty()) {
    return result;
  }
  const Tensors dense = torch::autograd::grad(y, x, gy, create_graph, create_graph, /*allow_unused=*/true);
  size_t next = 0;
  return spread(dense, next, needed);
}

/// The first derivative by the torch expression; itself differentiable when grad mode is on.
Tensors first_without_kernel(const Differentiable& op, const Tensors& inputs, const Tensors& gys,
                             const std::vector<bool>& needed) {
  const bool create_graph = at::GradMode::is_enabled();
  at::AutoGradMode on(true);
  const Tensors xs = aliases(inputs, create_graph);
  return gradient(op.without_kernels(xs), gys, xs, needed, create_graph);
}

/// The derivative of the first derivative by the torch expression, with respect to (inputs, gys).
Tensors second_without_kernel(const Differentiable& op, const Tensors& inputs, const Tensors& gys,
                              const std::vector<bool>& first_needed, const Tensors& ggxs,
                              const std::vector<bool>& needed) {
  const bool create_graph = at::GradMode::is_enabled();
  at::AutoGradMode on(true);
  const Tensors xs = aliases(inputs, create_graph), gs = aliases(gys, create_graph);
  const Tensors gxs = gradient(op.without_kernels(xs), gs, xs, first_needed, /*create_graph=*/true);
  Tensors all = xs;
  all.insert(all.end(), gs.begin(), gs.end());
  return gradient(gxs, ggxs, all, needed, create_graph);
}

/// The first derivative by kernel, as a node of its own. Inputs: the op's defined inputs, then the gradients.
struct BackwardNode : torch::autograd::Function<BackwardNode> {
  static Tensors forward(AutogradContext* ctx, at::TensorList tensors, const NodeRecordPtr& record) {
    const Tensors dense(tensors.begin(), tensors.end());
    size_t next = 0;
    const Tensors inputs = spread(dense, next, record->defined);
    const Tensors gys(dense.begin() + next, dense.end());
    ctx->set_materialize_grads(false);
    ctx->save_for_backward(dense);
    ctx->saved_data["record"] = c10::IValue::make_capsule(record);
    Tensors result;
    const Tensors gradients = record->op->backward(inputs, record->outputs, gys, record->needed);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (record->needed[i]) {
        result.push_back(gradients[i]);
      }
    }
    return result;
  }

  static Tensors backward(AutogradContext* ctx, const Tensors& incoming) {
    const NodeRecordPtr record = record_of(ctx);
    const Switches::Again switches(record->switches);
    const Tensors dense = ctx->get_saved_variables();
    size_t next = 0;
    const Tensors inputs = spread(dense, next, record->defined);
    const Tensors gys(dense.begin() + next, dense.end());
    std::vector<bool> needed;
    size_t edge = 0;
    for (const bool defined : record->defined) {
      needed.push_back(defined && ctx->needs_input_grad(edge++));
    }
    for (size_t i = 0; i < gys.size(); ++i) {
      needed.push_back(ctx->needs_input_grad(edge++));
    }
    next = 0;
    const Tensors ggxs = spread(incoming, next, record->needed);
    const bool by_kernel = !at::GradMode::is_enabled() && record->op->has_second(inputs);
    Tensors all = by_kernel ? record->op->second(inputs, record->outputs, gys, ggxs, needed)
                            : second_without_kernel(*record->op, inputs, gys, record->needed, ggxs, needed);
    Tensors result;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i >= inputs.size() || record->defined[i]) {
        result.push_back(needed[i] ? all[i] : Tensor());
      }
    }
    result.emplace_back();  // the record
    return result;
  }
};

struct CallNode : torch::autograd::Function<CallNode> {
  static Tensors forward(AutogradContext* ctx, at::TensorList tensors, const NodeRecordPtr& record) {
    const Tensors dense(tensors.begin(), tensors.end());
    size_t next = 0;
    const Tensors inputs = spread(dense, next, record->defined);
    const Tensors outputs =
        record->by_kernel ? record->op->forward(inputs) : record->op->without_kernels(inputs);
    const size_t results = record->op->results();
    ctx->set_materialize_grads(false);
    ctx->mark_non_differentiable(
        Tensors(outputs.begin() + static_cast<std::ptrdiff_t>(results), outputs.end()));
    Tensors saved = dense;
    if (record->by_kernel) {  // else the inputs alone
      saved.insert(saved.end(), outputs.begin(), outputs.end());
    }
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["record"] = c10::IValue::make_capsule(record);
    return outputs;
  }

  static Tensors backward(AutogradContext* ctx, Tensors gys) {
    const NodeRecordPtr record = record_of(ctx);
    const Switches::Again switches(record->switches);
    const Differentiable& op = *record->op;
    const Tensors saved = ctx->get_saved_variables();
    size_t next = 0, edge = 0;
    const Tensors inputs = spread(saved, next, record->defined);
    const Tensors outputs(saved.begin() + static_cast<std::ptrdiff_t>(next), saved.end());
    std::vector<bool> needed;
    for (const bool defined : record->defined) {
      needed.push_back(defined && ctx->needs_input_grad(edge++));
    }
    gys.resize(op.results());
    const bool by_kernel = record->by_kernel && op.has_backward(inputs);
    for (size_t i = 0; i < gys.size() && by_kernel; ++i) {
      gys[i] = gys[i].defined() ? gys[i] : at::zeros_like(outputs[i]);
    }
    Tensors all;
    if (!by_kernel) {
      all = first_without_kernel(op, inputs, gys, needed);
    } else if (at::GradMode::is_enabled()) {
      auto again = c10::make_intrusive<NodeRecord>();
      again->op = record->op;
      again->switches = record->switches;
      again->defined = record->defined;
      again->needed = needed;
      for (const Tensor& y : outputs) {
        again->outputs.push_back(y.defined() ? y.detach() : y);
      }
      Tensors dense = only_defined(inputs);
      dense.insert(dense.end(), gys.begin(), gys.end());
      const Tensors found = BackwardNode::apply(at::TensorList(dense), again);
      next = 0;
      all = spread(found, next, needed);
    } else {
      all = op.backward(inputs, outputs, gys, needed);
    }
    Tensors result;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (record->defined[i]) {
        result.push_back(needed[i] ? all[i] : Tensor());
      }
    }
    result.emplace_back();  // the record
    return result;
  }
};

}  // namespace

Tensors Differentiable::forward(const Tensors& inputs) const {
  return without_kernels(inputs);
}

Tensors Differentiable::backward(const Tensors& inputs, const Tensors&, const Tensors& output_gradients,
                                 const std::vector<bool>& needed) const {
  return first_without_kernel(*this, inputs, output_gradients, needed);
}

Tensors Differentiable::second(const Tensors& inputs, const Tensors&, const Tensors& output_gradients,
                               const Tensors& gradients_of_backward, const std::vector<bool>& needed) const {
  std::vector<bool> first(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    first[i] = gradients_of_backward[i].defined();
  }
  return second_without_kernel(*this, inputs, output_gradients, first, gradients_of_backward, needed);
}

Tensors call(std::shared_ptr<const Differentiable> op, const Tensors& inputs) {
  if (UseReferences::active()) {
    return op->reference(inputs);
  }
  const bool by_kernel =
      op->has_forward(inputs) && !(ExpectSecondDerivatives::active() && !op->has_second(inputs));
  bool differentiated = false;
  for (const Tensor& x : inputs) {
    differentiated = differentiated || (x.defined() && x.requires_grad());
  }
  if (!by_kernel && !(op->recomputes() && differentiated && at::GradMode::is_enabled())) {
    return op->without_kernels(inputs);
  }
  const size_t results = op->results();
  Tensors outputs;
  if (differentiated && at::GradMode::is_enabled()) {
    auto record = c10::make_intrusive<NodeRecord>();
    record->op = std::move(op);
    record->by_kernel = by_kernel;
    for (const Tensor& x : inputs) {
      record->defined.push_back(x.defined());
    }
    const Tensors dense = only_defined(inputs);
    outputs = CallNode::apply(at::TensorList(dense), record);
  } else {
    outputs = op->forward(inputs);
  }
  outputs.resize(results);
  return outputs;
}

ExpectSecondDerivatives::ExpectSecondDerivatives() {
  ++expecting_second;
}
ExpectSecondDerivatives::~ExpectSecondDerivatives() {
  --expecting_second;
}
bool ExpectSecondDerivatives::active() {
  return expecting_second > 0;
}

UseReferences::UseReferences(PlainAttention attention) : before_(plain_attention) {
  ++using_references;
  plain_attention = attention;
}
UseReferences::~UseReferences() {
  --using_references;
  plain_attention = before_;
}
PlainAttention UseReferences::attention() {
  return plain_attention;
}
bool UseReferences::active() {
  return using_references > 0;
}

Switches::Switches() : expects_second_(ExpectSecondDerivatives::active()) {
  if (UseReferences::active()) {
    references_ = UseReferences::attention();
  }
}
Switches::Again::Again(const Switches& as) {
  if (as.expects_second_) {
    second_.emplace();
  }
  if (as.references_) {
    references_.emplace(*as.references_);
  }
}

}  // namespace weyl
