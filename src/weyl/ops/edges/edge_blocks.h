#pragma once

#include <functional>
#include <vector>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/edges.h"

namespace weyl {

/// What the rows of a tensor belong to in `in_edge_blocks`; `whole`: every block gets all of it.
enum class BlockRows { node, edge, bond, whole };

struct EdgeBlockForm {
  std::vector<BlockRows> inputs, results;
};

/// Tensors of rows from tensors of rows, over edges whose rows are numbered as in them. Every row of a result depends
/// on the edges of one centre alone (rows of nodes), or on one edge or bond. It may be called again with a part of the
/// edges and what they touch, long after it was given: it holds what it needs, and no tensor that wants a gradient.
using EdgeFunction = std::function<Tensors(const Tensors& inputs, const Edges& edges)>;

/// f(inputs, edges), worked out for the edges of a few centres at a time, about `most` edges, so that what f makes for
/// each edge is never there for all: memory grows with results and inputs, not with what lies between. The first
/// derivative works f out again, block by block; higher ones are those of f over all edges. Up to `most` edges are one
/// block, which is f itself. Undefined inputs stay so. ShapeError: rows that do not fit the form.
/// On devices other than the CPU all edges are one block: the edges are cut on the host, for which the device's queue
/// would have to wait in each call, and a device works on all of them at a time in memory that is its own.
Tensors in_edge_blocks(const EdgeFunction& f, const EdgeBlockForm& form, const Tensors& inputs,
                       const Edges& edges, int64_t most);

}  // namespace weyl
