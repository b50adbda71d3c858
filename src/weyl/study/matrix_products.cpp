#include "weyl/study/matrix_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mm.h>
#include <ATen/record_function.h>

#include <string_view>

namespace weyl {
namespace {

thread_local std::vector<std::pair<Tensor, Tensor>>* listening = nullptr;

std::unique_ptr<at::ObserverContext> note_operands(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const size_t first = name == "aten::mm" ? 0 : (name == "aten::addmm" ? 1 : 2);
  if (listening && first < 2 && call.inputs().size() > first + 1) {
    listening->emplace_back(call.inputs()[first].toTensor(), call.inputs()[first + 1].toTensor());
  }
  return nullptr;
}

}  // namespace

void MatrixProducts::record(const std::function<void()>& work) {
  std::vector<std::pair<Tensor, Tensor>> recorded;
  listening = &recorded;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&note_operands).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  try {
    work();
  } catch (...) {
    at::removeCallback(handle);
    listening = nullptr;
    throw;
  }
  at::removeCallback(handle);
  listening = nullptr;
  const at::NoGradGuard off;
  shapes_.clear();
  operands_.clear();
  for (const auto& [a, b] : recorded) {
    shapes_.push_back({{a.sizes().vec(), a.strides().vec()},
                       {b.sizes().vec(), b.strides().vec()},
                       a.scalar_type(),
                       a.device()});
    const auto copy = [](const Tensor& x) {
      // An expanded operand (stride 0) becomes an ordinary one.
      bool dense = true;
      for (const int64_t s : x.strides()) {
        dense = dense && s > 0;
      }
      return (dense ? at::empty_strided(x.sizes(), x.strides(), x.options())
                    : at::empty(x.sizes(), x.options()))
          .fill_(0.5);
    };
    operands_.emplace_back(copy(a), copy(b));
  }
}

void MatrixProducts::replay() const {
  const at::NoGradGuard off;
  for (const auto& [a, b] : operands_) {
    at::mm(a, b);
  }
}

double MatrixProducts::flops() const {
  double sum = 0;
  for (const Shape& s : shapes_) {
    sum += 2.0 * static_cast<double>(s.a.sizes[0] * s.a.sizes[1] * s.b.sizes[1]);
  }
  return sum;
}

}  // namespace weyl
