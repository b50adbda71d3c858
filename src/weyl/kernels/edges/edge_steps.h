// What a program for edges (edge_program.h) consists of, without the containers that hold it.
#pragma once

#include <cstdint>

namespace weyl::kernels {

/// What the rows of a tensor belong to: the node at the centre of an edge, its neighbour, the edge i -> j
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

}  // namespace weyl::kernels
