#include "weyl/study/operation_counts.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <optional>
#include <string_view>
#include <vector>

#include "weyl/ops/autograd/operations.h"

namespace weyl {
namespace {

thread_local double* counter = nullptr;

/// A multiply-add of two numbers of this type.
double of_multiply_add(const at::Tensor& x) {
  return x.is_complex() ? 8 : 2;
}

/// Where the two factors of a matrix product stand among the arguments; none: it is no matrix product.
std::optional<size_t> first_factor(std::string_view name) {
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::mv" || name == "aten::dot") {
    return 0;
  }
  return name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::addmv" ? std::optional<size_t>(1)
                                                                                   : std::nullopt;
}

double matrix_product(const at::Tensor& a, const at::Tensor& b) {
  const bool vector = b.dim() == 1;
  return of_multiply_add(a) * static_cast<double>(a.numel()) * (vector ? 1 : static_cast<double>(b.size(-1)));
}

/// Of a result (B, O, pixels...) with so many pixels, weight (O, I, taps...).
double convolution(int64_t batch, double pixels, const at::Tensor& weight) {
  return of_multiply_add(weight) * static_cast<double>(batch * weight.numel()) * pixels;
}

double pixels_of(const at::Tensor& x) {
  return static_cast<double>(x.numel()) / static_cast<double>(x.size(0) * x.size(1));
}

/// aten::convolution(input, weight, bias, stride, padding, dilation, ...)
double convolution(c10::ArrayRef<const c10::IValue> in) {
  const at::Tensor x = in[0].toTensor(), weight = in[1].toTensor();
  const auto stride = in[3].toIntVector(), padding = in[4].toIntVector(), dilation = in[5].toIntVector();
  double pixels = 1;
  for (int64_t a = 0; a + 2 < x.dim(); ++a) {
    const auto along = [a](const std::vector<int64_t>& of) {  // one number: along all axes
      return of.size() == 1 ? of[0] : of[static_cast<size_t>(a)];
    };
    const int64_t reach = along(dilation) * (weight.size(a + 2) - 1) + 1;
    pixels *= static_cast<double>((x.size(a + 2) + 2 * along(padding) - reach) / along(stride) + 1);
  }
  return convolution(x.size(0), pixels, weight);
}

/// aten::convolution_backward(grad_output, input, weight, ..., output_mask)
double convolution_backward(c10::ArrayRef<const c10::IValue> in) {
  const at::Tensor gy = in[0].toTensor(), weight = in[2].toTensor();
  const auto wanted = in.back().toBoolList();
  return (wanted[0] + wanted[1]) * convolution(gy.size(0), pixels_of(gy), weight);
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& call) {
  if (counter == nullptr) {
    return nullptr;
  }
  const std::string_view name = call.name();
  const auto inputs = call.inputs();
  if (const auto first = first_factor(name); first && inputs.size() > *first + 1) {
    *counter += matrix_product(inputs[*first].toTensor(), inputs[*first + 1].toTensor());
  } else if (name == "aten::convolution") {
    *counter += convolution(inputs);
  } else if (name == "aten::convolution_backward") {
    *counter += convolution_backward(inputs);
  }
  return nullptr;
}

/// Listens to LibTorch while it lives.
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

double operations_of(const std::function<void()>& work) {
  double of_torch = 0;
  const Listening listening(of_torch);
  const CountOperations of_kernels;
  work();
  return of_torch + of_kernels.flops();
}

}  // namespace weyl
