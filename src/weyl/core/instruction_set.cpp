#include "weyl/core/instruction_set.h"

#include <algorithm>
#include <atomic>

namespace weyl::kernels {
namespace {

std::atomic<InstructionSet> most_allowed{InstructionSet::v4};

}  // namespace

InstructionSet best_instruction_set() {
#if defined(__x86_64__) && !defined(WEYL_BASELINE_KERNELS)
  static const InstructionSet best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return InstructionSet::v4;
    }
    const bool v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    return v3 ? InstructionSet::v3 : InstructionSet::baseline;
  }();
  return best;
#else
  return InstructionSet::baseline;
#endif
}

InstructionSet instruction_set() {
  return std::min(best_instruction_set(), most_allowed.load());
}

UseInstructionSet::UseInstructionSet(InstructionSet at_most) : before_(most_allowed.exchange(at_most)) {}
UseInstructionSet::~UseInstructionSet() {
  most_allowed.store(before_);
}

}  // namespace weyl::kernels
