#pragma once

#include <vector>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/steerable/positions.h"

namespace weyl::steerable {

/// Which numbers a head of steerable attention has (see kernels/steerable/attention.h).
struct Heads {
  Heads(const SteerableType& type, int64_t heads);
  int64_t heads = 1, width = 0, multiplicity = 0, multiplicity_of_all = 0,
          components = 0;                // H, F, S, S of all, M
  std::vector<int64_t> features;         // (H, F): among those of all
  std::vector<int64_t> component, copy;  // (F)
  std::vector<int64_t> copy_of_all;      // (H, S)
};

// Steerable attention (ops/steerable/attention.h) as torch expressions, differentiable to any order on any
// device. Inputs q, k, v, key weights, value weights; positions null: none. Arguments are not checked again.

/// The definition, as the authors compute it: every k_ij and v_ij, B N^2 F numbers each.
Tensor attention_of_pairs(const Tensors& in, const Heads& heads, double scale, const Positions* positions);

/// The same with positional vectors contracted: N^2 (B H + M) numbers a few times, and B H N R M.
Tensor attention_contracted(const Tensors& in, const Heads& heads, double scale, const Positions* positions);

}  // namespace weyl::steerable
