#pragma once

#include "weyl/ops/edges/edges.h"

namespace weyl {

/// What nodes say of their energies without autograd: values, and how their sum changes with the step r_j + shift . cell -
/// r_i of each bond's first edge, which the reverse edge follows. All that moves a node or strains a cell does so by steps.
struct BondGradient {
  Edges edges;
  Tensor energies;       // (N), in the model's dtype
  Tensor steps, slopes;  // (P, 3) float64
};

/// Minus the derivatives by positions, (N, 3) float64.
Tensor forces_of(const BondGradient& g);
/// The derivatives by a symmetric strain of each graph, (B, 3, 3) float64.
Tensor slopes_by_strain(const BondGradient& g);
/// The same by strains of nodes, half of each bond's to each of its ends (Points::strains), (N, 3, 3) float64.
Tensor slopes_by_node_strains(const BondGradient& g);

/// While one lives, in the whole process, no model gives a BondGradient: forces come by autograd, as those of models
/// that have no other way. For tests and benchmarks.
class WithoutBondGradients {
 public:
  WithoutBondGradients();
  ~WithoutBondGradients();
  WithoutBondGradients(const WithoutBondGradients&) = delete;
  WithoutBondGradients& operator=(const WithoutBondGradients&) = delete;
  static bool active();
};

}  // namespace weyl
