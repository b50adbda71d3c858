#pragma once

#include <utility>
#include <vector>

#include "weyl/kernels/edges/edge_steps.h"

namespace weyl::kernels {

struct EdgeFactor {
  int64_t tensor = 0, part = 0;
};

/// For every edge, the product of the factors, added to a row of an output. What the output lacks of the
/// factors' components, channels and heads is summed over.
struct EdgeTerm {
  std::vector<EdgeFactor> factors;  // of the inputs
  EdgeFactor output;                // of the outputs
};
struct EdgeSums {
  int64_t heads = 1, channels = 1, dimension = 3;
  std::vector<EdgeTensor> inputs, outputs;
  std::vector<EdgeTerm> terms;
};

/// What is asked of the terms' common multilinear form L, the sum over edges of products of the factors and
/// of the outputs' cotangents: its gradients, or the gradients of its derivative along tangents of inputs.
struct EdgeQuestion {
  std::vector<bool> tangents;  // per input: has it one; empty: the gradients of L itself
  std::vector<bool> inputs;    // per input: is the gradient wanted
  std::vector<bool> outputs;   // per output: is the gradient in its cotangent wanted
};

/// Steps for one edge that answer a question. Tensors are numbered: inputs, cotangents of outputs, tangents
/// of inputs, then the answers: gradients of inputs, gradients of outputs (those are the outputs themselves
/// when no tangent is there). Centre and neighbour rows of answers are added to; edge rows are set, and bond
/// rows at the first edge of the bond.
struct EdgeProgram {
  std::vector<EdgeRegister> registers;
  std::vector<EdgeStep> steps;
  std::vector<std::pair<int64_t, int64_t>> ones;  // (begin, end) in scratch memory: must hold ones
  int64_t scratch = 0;                            // numbers
  std::vector<EdgeTensor> arrays;                 // the tensors by number
  std::vector<bool> whole;  // per array: an edge or bond row that is set in all its parts
};

/// `padding`: rows in scratch memory are multiples of it. The sums must be well formed (ops checks): a term
/// has no vector or two among its factors and output, and its largest width occurs in two of them.
EdgeProgram edge_program(const EdgeSums& sums, const EdgeQuestion& question, int64_t padding);

/// Numbers of a width, and in a whole row of a tensor.
int64_t edge_numbers(const EdgeSums& sums, EdgeWidth width);
int64_t edge_row_size(const EdgeSums& sums, const EdgeTensor& tensor);

}  // namespace weyl::kernels
