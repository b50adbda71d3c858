#pragma once

// The namespace of what is compiled once for each instruction set (see kernels/simd/simd.h).
#ifndef WEYL_ISA
#define WEYL_ISA baseline
#endif

namespace weyl::kernels {

/// Kernels are compiled once for each of these; the best that the processor has is chosen at run time.
/// v3: AVX2 and FMA; v4: AVX-512 (F, BW, DQ, VL); both on x86-64 alone. baseline: what every processor of the
/// architecture has.
enum class InstructionSet { baseline, v3, v4 };

/// The one in use: the best of the processor, unless a UseInstructionSet lives.
InstructionSet instruction_set();
InstructionSet best_instruction_set();

/// While one lives, the whole process uses at most this one: tests compare them all.
class UseInstructionSet {
 public:
  explicit UseInstructionSet(InstructionSet at_most);
  ~UseInstructionSet();
  UseInstructionSet(const UseInstructionSet&) = delete;
  UseInstructionSet& operator=(const UseInstructionSet&) = delete;

 private:
  InstructionSet before_;
};

}  // namespace weyl::kernels
