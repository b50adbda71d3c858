#include "weyl/study/cost/operation_counts.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mm.h>
#include <ATen/record_function.h>
#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "weyl/ops/autograd/operations.h"

namespace weyl {
namespace {

/// Autograd runs the backward pass of a device on a thread of its own, which has the callbacks of the thread that asked for
/// it, though not its variables: what is heard stands where all threads reach it.
std::mutex writing;
std::vector<MatrixProducts::Shape>* heard = nullptr;

MatrixProducts::Shape product_shape(const Tensor& a, const Tensor& b) {
  return {{a.sizes().vec(), a.strides().vec()},
          {b.sizes().vec(), b.strides().vec()},
          at::TensorOptions().dtype(a.dtype()).device(a.device())};
}

std::unique_ptr<at::ObserverContext> note_operands(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const size_t first = name == "aten::mm" ? 0 : (name == "aten::addmm" ? 1 : 2);
  if (first < 2 && call.inputs().size() > first + 1) {
    const std::scoped_lock lock(writing);
    if (heard != nullptr) {
      heard->push_back(product_shape(call.inputs()[first].toTensor(), call.inputs()[first + 1].toTensor()));
    }
  }
  return nullptr;
}

/// Hears this thread's products while it lives.
class Hearing {
 public:
  explicit Hearing(std::vector<MatrixProducts::Shape>& into) {
    set(&into);
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&note_operands).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~Hearing() {
    at::removeCallback(handle_);
    set(nullptr);
  }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  static void set(std::vector<MatrixProducts::Shape>* into) {
    const std::scoped_lock lock(writing);
    heard = into;
  }

  at::CallbackHandle handle_ = 0;
};

/// An operand of this layout; an expanded one (stride 0) becomes an ordinary one.
Tensor operand(const MatrixProducts::Layout& of, const at::TensorOptions& options) {
  const bool dense = std::ranges::all_of(of.strides, [](int64_t stride) { return stride > 0; });
  return (dense ? at::empty_strided(of.sizes, of.strides, options) : at::empty(of.sizes, options)).fill_(0.5);
}

}  // namespace

void MatrixProducts::record(const std::function<void()>& work) {
  static std::mutex turn;
  const std::scoped_lock lock(turn);
  std::vector<Shape> shapes;
  {
    const Hearing hearing(shapes);
    work();
  }
  const at::NoGradGuard off;
  shapes_ = std::move(shapes);
  operands_.clear();
  for (const auto& [a, b, options] : shapes_) {
    operands_.emplace_back(operand(a, options), operand(b, options));
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

/// aten::convolution(input, weight, bias, stride, padding, dilation, transposed, ...)
double convolution(c10::ArrayRef<const c10::IValue> in) {
  const at::Tensor x = in[0].toTensor(), weight = in[1].toTensor();
  if (in[6].toBool()) {  // which meets each cell of the input with the whole weight
    return convolution(x.size(0), pixels_of(x), weight);
  }
  const auto stride = in[3].toIntVector(), padding = in[4].toIntVector(), dilation = in[5].toIntVector();
  double pixels = 1;
  for (int64_t a = 0; a + 2 < x.dim(); ++a) {
    const auto along = [a](const std::vector<int64_t>& of) {  // one number: along all axes
      return of.size() == 1 ? of[0] : of[static_cast<size_t>(a)];
    };
    const int64_t reach = along(dilation) * (weight.size(a + 2) - 1) + 1;
    const int64_t steps = (x.size(a + 2) + 2 * along(padding) - reach) / along(stride);
    pixels *= static_cast<double>(steps + 1);
  }
  return convolution(x.size(0), pixels, weight);
}

/// aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, ...,
/// output_mask)
double convolution_backward(c10::ArrayRef<const c10::IValue> in) {
  const at::Tensor gy = in[0].toTensor(), x = in[1].toTensor(), weight = in[2].toTensor();
  const auto wanted = in.back().toBoolList();
  return (wanted[0] + wanted[1]) * convolution(gy.size(0), pixels_of(in[7].toBool() ? x : gy), weight);
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
