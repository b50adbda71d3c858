#include "weyl/kernels/dispatch.h"

#include <atomic>

namespace weyl::kernels {
namespace {

std::atomic<KernelWatcher> watching{nullptr};

}  // namespace

KernelWatcher watch_kernels(KernelWatcher watcher) {
  return watching.exchange(watcher);
}

InstructionSet instruction_set_for(const char* kernel) {
  const InstructionSet set = instruction_set();
  if (const KernelWatcher watcher = watching.load(std::memory_order_relaxed)) {
    watcher(kernel, set);
  }
  return set;
}

}  // namespace weyl::kernels
