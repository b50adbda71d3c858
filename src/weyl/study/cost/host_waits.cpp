#include "weyl/study/cost/host_waits.h"

#include <c10/core/SymInt.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/util/Backtrace.h>
#include <algorithm>
#include <mutex>
#include <sstream>
#include <string_view>

namespace weyl {
namespace {

/// Of a frame of c10's backtrace ("frame #5: at::Tensor::item() const + 0x1f (0x7f... in /lib/libtorch_cpu.so)") what to
/// show: weyl's functions, LibTorch's operations and steps of its backward pass. Nothing of what dispatches between them.
std::optional<std::string> shown(std::string_view frame) {
  constexpr size_t longest = 160;
  const auto has = [&](std::string_view part) { return frame.find(part) != std::string_view::npos; };
  const bool unnamed = has("<unknown function>");  // its address can be looked up in the library
  const bool of_weyl = has("libweyl") || has(" weyl::");
  const bool operation = has("at::_ops::") && has("::call(");
  const bool of_torch = !unnamed && !has("wrap_kernel") &&
                        (operation || has("torch::autograd::") || has("at::native::") || has("c10::cuda::"));
  if (!of_weyl && !of_torch) {
    return std::nullopt;
  }
  std::string_view function = frame.substr(std::min(frame.size(), frame.find(": ") + 2));
  if (!unnamed) {
    function = function.substr(0, function.rfind(" + 0x"));
  }
  return std::string(function.substr(0, longest));
}

/// What called this function, innermost first.
std::string place() {
  constexpr size_t all = 96, most = 24;
  std::istringstream frames(c10::get_backtrace(/*frames_to_skip=*/2, all));
  std::string lines;
  size_t count = 0;
  for (std::string frame; count < most && std::getline(frames, frame);) {
    if (const auto line = shown(frame)) {
      lines += *line + "\n";
      ++count;
    }
  }
  return lines;
}

/// What LibTorch tells of each call that makes the host wait, at the call, on its thread. It tells it to an interpreter of
/// Python, of which it asks nothing but this when no tensor belongs to one.
class Listener final : public c10::impl::PyInterpreterVTable {
 public:
  void start(c10::DeviceType type, std::map<std::string, int64_t>* places) {
    const std::scoped_lock lock(mutex_);
    type_ = type;
    places_ = places;
    count_ = 0;
  }
  int64_t stop() {
    const std::scoped_lock lock(mutex_);
    type_.reset();
    return count_;
  }

  void trace_gpu_device_synchronization(c10::DeviceType type) const override { note(type); }
  void trace_gpu_stream_synchronization(c10::DeviceType type, uintptr_t) const override { note(type); }
  void trace_gpu_event_synchronization(c10::DeviceType type, uintptr_t) const override { note(type); }

  void trace_gpu_event_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_deletion(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_record(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_event_wait(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_memory_allocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_memory_deallocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_stream_creation(c10::DeviceType, uintptr_t) const override {}

  std::string name() const override { return "weyl"; }
  void incref(PyObject*) const override { none(); }
  void decref(PyObject*) const override { none(); }
  bool try_incref(const c10::impl::PyObjectSlot&) const override { none(); }
  size_t refcnt(PyObject*) const override { none(); }
  c10::intrusive_ptr<c10::TensorImpl> detach(const c10::TensorImpl*) const override { none(); }
  void dispatch(const c10::OperatorHandle&, torch::jit::Stack*) const override { none(); }
  void reportErrorCallback(PyObject*, c10::DispatchKey) const override { none(); }
  void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey, c10::DispatchKeySet,
                                         torch::jit::Stack*, bool, bool) const override {
    none();
  }
  void throw_abstract_impl_not_imported_error(std::string, const char*, const char*) const override {
    none();
  }
  void python_dispatcher(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) const override {
    none();
  }
  bool is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const override { none(); }
  c10::SymBool sym_is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const override { none(); }
  bool is_strides_like(const c10::TensorImpl*, at::MemoryFormat) const override { none(); }
  bool is_non_overlapping_and_dense(const c10::TensorImpl*) const override { none(); }
  c10::Device device(const c10::TensorImpl*) const override { none(); }
  int64_t dim(const c10::TensorImpl*) const override { none(); }
  c10::IntArrayRef strides(const c10::TensorImpl*) const override { none(); }
  c10::IntArrayRef sizes(const c10::TensorImpl*) const override { none(); }
  c10::SymIntArrayRef sym_sizes(const c10::TensorImpl*) const override { none(); }
  c10::Layout layout(const c10::TensorImpl*) const override { none(); }
  int64_t numel(const c10::TensorImpl*) const override { none(); }
  c10::SymInt sym_numel(const c10::TensorImpl*) const override { none(); }
  c10::SymIntArrayRef sym_strides(const c10::TensorImpl*) const override { none(); }
  c10::SymInt sym_storage_offset(const c10::TensorImpl*) const override { none(); }
  void reset_backward_hooks(const c10::TensorImpl*) const override { none(); }

 private:
  [[noreturn]] static void none() { TORCH_CHECK(false, "no tensor of this program belongs to Python"); }

  void note(c10::DeviceType type) const {
    const std::scoped_lock lock(mutex_);
    if (type_ == type) {
      ++count_;
      if (places_ != nullptr) {
        ++(*places_)[place()];
      }
    }
  }

  mutable std::mutex mutex_;
  std::optional<c10::DeviceType> type_;  // none: nobody counts
  std::map<std::string, int64_t>* places_ = nullptr;
  mutable int64_t count_ = 0;
};

/// LibTorch takes one listener and keeps it for good, so this one is never destroyed; nullptr: it has another.
Listener* listener() {
  static auto* const ours = new Listener;
  static const auto* const handle = [] {
    const auto* made = new c10::impl::PyInterpreter(ours);
    c10::impl::GPUTrace::set_trace(made);
    return made;
  }();
  return c10::impl::GPUTrace::get_trace() == handle ? ours : nullptr;
}

}  // namespace

std::optional<int64_t> host_waits(at::Device device, const std::function<void()>& work,
                                  std::map<std::string, int64_t>* places) {
  static std::mutex turn;
  const std::scoped_lock lock(turn);
  Listener* const ear = device.is_cpu() ? nullptr : listener();
  if (ear == nullptr) {
    work();
    return std::nullopt;
  }
  ear->start(device.type(), places);
  try {
    work();
  } catch (...) {
    ear->stop();
    throw;
  }
  return ear->stop();
}

}  // namespace weyl
