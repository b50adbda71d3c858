#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weyl::kernels {

/// To what the rows of a tensor belong: the node at the centre of an edge, its neighbour, the edge i -> j
/// itself, or the bond that it forms with its reverse.
enum class EdgeRows { centre, neighbour, edge, bond };
/// How many numbers a row has (or each component of a vector): one, H (one for each head), F = H h channels.
enum class EdgeWidth { one, heads, channels };

struct EdgeTensor {
  EdgeRows rows = EdgeRows::edge;
  EdgeWidth width = EdgeWidth::channels;
  bool vector = false;  // D components, each of the width
  int64_t parts = 1;    // that many numbers side by side: a product takes one part
};
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

/// Where a row of numbers stands: in the row of a tensor that belongs to the edge, or in scratch memory.
struct EdgeRegister {
  int64_t array = -1;     // which tensor; -1: scratch memory
  int64_t offset = 0;     // in the tensor's row, or in the scratch memory
  int64_t component = 0;  // distance of the components of a vector; 0: not a vector
};

/// to (+)= a b + c d on rows of `length` numbers, for each component; all else varies that.
struct EdgeStep {
  enum class Kind {
    product,  // as above
    dot,      // summed over the components
    gather,   // each component summed over groups of channels: to has `groups` numbers
    total,    // summed over the components, and over groups of channels
    spread    // to = a, whose `groups` numbers are repeated to `length`
  };
  Kind kind = Kind::product;
  bool add = false;
  bool opens = false;  // at the first edge of a bond sets what it adds to at the other
  int64_t to = 0, a = 0, b = 0, c = -1, d = -1;  // registers; c = -1: one product
  int64_t length = 0, groups = 0, components = 1;
  int64_t to_apart = 0, a_apart = 0, b_apart = 0, c_apart = 0, d_apart = 0;  // components of the registers
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
