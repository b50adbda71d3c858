// How the rest of the library reaches the kernels: as tables of functions, of which there is one for each instruction
// set.
#pragma once

#include "weyl/core/instruction_set.h"

namespace weyl::kernels {

/// The functions of a kernel as compiled for one instruction set. `Kernel` is the table that the kernel's header
/// declares and documents; a full specialisation of this function, for each element type, ends the kernel's file, which
/// is compiled once for each instruction set (see simd/simd.h).
template <class Kernel, InstructionSet set>
const Kernel& compiled();

/// A watcher is told which table is fetched (`kernel` holds its type's name) and for which instruction set. It may be
/// called by several threads at a time. The library sets none: tests do that must know which kernels ran.
using KernelWatcher = void (*)(const char* kernel, InstructionSet set);
/// Sets the watcher of the whole process (null: nobody) and returns the one before.
KernelWatcher watch_kernels(KernelWatcher watcher);

/// The instruction set in use, after the watcher has been told.
InstructionSet instruction_set_for(const char* kernel);

/// The table for the instruction set in use: best<VectorNorm<float>>().forward(...).
template <class Kernel>
const Kernel& best() {
  [[maybe_unused]] const InstructionSet set = instruction_set_for(__PRETTY_FUNCTION__);
#if defined(__x86_64__) && !defined(WEYL_BASELINE_KERNELS)
  if (set == InstructionSet::v4) {
    return compiled<Kernel, InstructionSet::v4>();
  }
  if (set == InstructionSet::v3) {
    return compiled<Kernel, InstructionSet::v3>();
  }
#endif
  return compiled<Kernel, InstructionSet::baseline>();
}

}  // namespace weyl::kernels
