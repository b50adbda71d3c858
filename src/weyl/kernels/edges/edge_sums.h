#pragma once

#include "weyl/kernels/edges/edge_steps.h"

namespace weyl::kernels {

/// A program and what it runs on. T is float or double.
template <class T>
struct EdgeRun {
  const EdgeRegister* registers = nullptr;
  int64_t register_count = 0;
  const EdgeStep* steps = nullptr;
  int64_t step_count = 0;
  const EdgeTensor* tensors = nullptr;  // `arrays` of the program
  int64_t tensor_count = 0;
  T* const* arrays = nullptr;          // their numbers, contiguous; only answers are written
  const int64_t* row_sizes = nullptr;  // and the numbers in a row of each
  const int64_t *centre = nullptr, *neighbour = nullptr, *bond = nullptr;  // of each edge
  const int64_t* edge_of_bond = nullptr;  // the first edge of each; like bond null when no tensor has bonds
  const int64_t* order = nullptr;         // of the edges; null: as they stand
};

/// Memory of one caller: `numbers` (scratch of the program), holding its ones; pointers for the registers,
/// then the arrays.
template <class T>
struct EdgeMemory {
  T* numbers = nullptr;
  T** pointers = nullptr;
};

template <class T>
struct EdgeRunner {
  /// Runs the program for the edges first <= k < last of the order, one after the other: every sum has the
  /// order of the edges. Edges of two calls at a time must not add to one row.
  void (*run)(const EdgeRun<T>& run, EdgeMemory<T> memory, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
