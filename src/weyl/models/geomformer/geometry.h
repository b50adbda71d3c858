#pragma once

#include <limits>
#include <memory>

#include "weyl/carriers/points.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/work.h"
#include "weyl/nn/mlp.h"
#include "weyl/nn/radial_basis.h"
#include "weyl/ops/edges/edge_blocks.h"
#include "weyl/ops/edges/edge_sums.h"

namespace weyl::geomformer {

/// What all layers know of the pairs of nodes that attend to one another: E directed edges.
struct Neighbourhood {
  Edges edges;
  Tensor apart;  // (E, 3), from the centre to its neighbour, in float64; undefined where options ask for none
  Tensor lengths;     // (E)
  Tensor directions;  // (E, 3), of length 1; 0 where they coincide
  Tensor envelope;    // (E), the smooth cut-off; undefined: none, edges are all pairs
  Tensor basis;       // (E, K), or (P, K) of bonds, where an edge and its reverse are alike
  EdgeRows basis_rows = EdgeRows::edge;
  /// How many edges are worked out at a time (ops/edges/edge_blocks.h): in evaluation a few, whatever their number.
  int64_t at_once = std::numeric_limits<int64_t>::max();

  BlockRows block_rows() const { return basis_rows == EdgeRows::bond ? BlockRows::bond : BlockRows::edge; }
  /// f of edges in blocks, see in_edge_blocks.
  Tensors in_blocks(const EdgeFunction& f, const EdgeBlockForm& form, const Tensors& inputs) const {
    return in_edge_blocks(f, form, inputs, edges, at_once);
  }
};

/// How many edges a node has, and rows of their basis, where all nodes of its graph are neighbours; whether the basis has
/// parameters. For what layers say of their work.
struct Around {
  double edges = 0, basis_rows = 0;
  bool basis_learns = false;

  /// A product for each row of the basis, of two factors: the basis, or what is made of it, and one that learns.
  Work of_basis(double multiply_adds) const {
    return basis_rows * Work::product(multiply_adds, basis_learns ? 2 : 1);
  }
};

/// What was made of a basis row by row, whose rows are of edges or bonds, for each edge.
Tensor of_edges(const Tensor& of_basis, EdgeRows rows, const Edges& edges);

/// Finds the edges of a batch and the functions of their lengths. Children: gaussian or radial.
class PairGeometry : public Module {
 public:
  /// types: T, at least 1.
  PairGeometry(const Options& options, int64_t types);
  /// Differentiable to any order in positions and cells. types (N) int64, or undefined when there is one.
  Neighbourhood operator()(const Points& points) const;
  Around around(double graph_nodes) const;
  /// How many each graph has.
  std::vector<int64_t> edges(const Points& points) const;

 private:
  Edges edges_of_pairs(const Points& points) const;

  std::optional<CutoffOptions> cutoff_;
  bool self_edges_, apart_, basis_learns_;
  int64_t types_;
  std::shared_ptr<GaussianBasis> gaussian_;
  std::shared_ptr<RadialBasis> radial_;
};

/// What is added to the scores of a pair, from the functions b of its length alone, GELU(b W1 + c1) W2 + c2:
/// (E, H), one number for all heads unless `each_head` (GeoMFormer's structural encoding). Child: mlp.
class StructuralBias : public Module {
 public:
  StructuralBias(int64_t kernels, int64_t heads, bool each_head, LinearInit init);
  Tensor operator()(const Neighbourhood& near) const;
  Work work(const Around& around) const;  // of one node

 private:
  int64_t heads_, kernels_, outputs_;
  std::shared_ptr<Mlp> mlp_;
};

/// The scalar features of each edge (E, F), from those of all pairs of nodes (sum n^2, F), whose rows stand in the order graph,
/// centre, neighbour.
Tensor pairs_of_edges(const Tensor& pairs, const Segments& graphs, const Neighbourhood& near);

}  // namespace weyl::geomformer
