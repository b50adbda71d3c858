#include "weyl/study/operation_counts.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <string_view>

namespace weyl {
namespace {

thread_local double* counter = nullptr;

/// Where the two factors stand among the arguments; -1: no product.
int first_factor(std::string_view name) {
  if (name == "aten::mm" || name == "aten::bmm") {
    return 0;
  }
  return name == "aten::addmm" || name == "aten::baddbmm" ? 1 : -1;
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& call) {
  const int first = first_factor(call.name());
  if (counter != nullptr && first >= 0 && call.inputs().size() > static_cast<size_t>(first) + 1) {
    const at::Tensor a = call.inputs()[static_cast<size_t>(first)].toTensor();
    const at::Tensor b = call.inputs()[static_cast<size_t>(first) + 1].toTensor();
    *counter += 2.0 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
  }
  return nullptr;
}

/// Listens while it lives.
class Listening {
 public:
  explicit Listening(double& flops)
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(&count).needsInputs(true).scopes({at::RecordScope::FUNCTION}))) {
    counter = &flops;
  }
  ~Listening() {
    at::removeCallback(handle_);
    counter = nullptr;
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

double product_flops(const std::function<void()>& work) {
  double flops = 0;
  const Listening listening(flops);
  work();
  return flops;
}

}  // namespace weyl
