#pragma once

// WEYL_ISA: the namespace of code that is compiled once for each instruction set (see kernels/simd/simd.h).
#ifndef WEYL_ISA
#define WEYL_ISA baseline
#endif

namespace weyl::kernels {

/// The instruction sets that kernels are compiled for. The best one that the processor has is chosen at run time.
///   baseline  what every processor of the architecture has
///   v3        AVX2, FMA and BMI2 (x86-64 alone)
///   v4        AVX-512 F, BW, DQ and VL (x86-64 alone)
enum class InstructionSet { baseline, v3, v4 };

/// The instruction set in use: the processor's best, unless a UseInstructionSet lives.
InstructionSet instruction_set();
InstructionSet best_instruction_set();

/// While one lives, the whole process uses at most this instruction set, so that tests can compare them all.
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
