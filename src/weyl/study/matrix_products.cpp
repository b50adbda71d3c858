#include "weyl/study/matrix_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mm.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <mutex>
#include <string_view>

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

}  // namespace weyl
