#include "weyl/ops/edges/edge_blocks.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// The edges of consecutive centres as a graph of their own: nodes are the centres and their neighbours, in their
/// order, bonds those of these edges, in the order of their first.
struct Block {
  int64_t first_centre = 0, centres = 0, first_edge = 0, count = 0;
  Edges edges;
  Tensor nodes;      // rows of all nodes
  int64_t before;    // the row of the first centre among them
  Tensor bonds;      // rows of all bonds
  Tensor own_bonds;  // rows of this block's bonds whose first edge of all is here: each bond is one block's
};

/// Cuts edges into blocks one after the other; what it needs for that is kept between them.
class Cutter {
 public:
  Cutter(const Edges& edges, int64_t most)
      : edges_(edges),
        most_(most),
        centre_(edges.centre.to(at::kCPU)),
        neighbour_(edges.neighbour.to(at::kCPU)),
        bond_(edges.bond.to(at::kCPU)),
        edge_of_bond_(edges.edge_of_bond.to(at::kCPU)),
        row_(static_cast<size_t>(edges.nodes()), -1),
        bond_row_(static_cast<size_t>(edges.bonds()), -1) {}

  bool next(Block& block) {
    const std::vector<int64_t>& ends = edges_.of_centre.offsets;
    const int64_t first = block.first_centre + block.centres, nodes = edges_.nodes();
    if (first >= nodes) {
      return false;
    }
    int64_t end = first + 1;
    while (end < nodes && ends[static_cast<size_t>(end) + 1] - ends[static_cast<size_t>(first)] <= most_) {
      ++end;
    }
    block = {};
    block.first_centre = first;
    block.centres = end - first;
    block.first_edge = ends[static_cast<size_t>(first)];
    block.count = ends[static_cast<size_t>(end)] - block.first_edge;
    number_nodes(block);
    number_bonds(block);
    const auto device = edges_.centre.device();
    std::vector<int64_t> of_graph;
    for (const int64_t offset : edges_.of_graph.offsets) {
      of_graph.push_back(std::clamp(offset - block.first_edge, int64_t{0}, block.count));
    }
    block.edges.of_graph = Segments::of_offsets(std::move(of_graph), device);
    if (edges_.shifts.defined()) {
      block.edges.shifts = edges_.shifts.narrow(0, block.first_edge, block.count);
    }
    return true;
  }

 private:
  void number_nodes(Block& block) {
    const int64_t first = block.first_centre, end = first + block.centres;
    const auto *to = neighbour_.const_data_ptr<int64_t>() + block.first_edge,
               *from = centre_.const_data_ptr<int64_t>() + block.first_edge;
    std::vector<int64_t> around;
    for (int64_t e = 0; e < block.count; ++e) {
      int64_t& row = row_[static_cast<size_t>(to[e])];
      if (row < 0 && (to[e] < first || to[e] >= end)) {
        row = 0;
        around.push_back(to[e]);
      }
    }
    std::sort(around.begin(), around.end());
    const auto middle = std::lower_bound(around.begin(), around.end(), first);
    std::vector<int64_t> all(around.begin(), middle);
    block.before = static_cast<int64_t>(all.size());
    for (int64_t c = first; c < end; ++c) {
      all.push_back(c);
    }
    all.insert(all.end(), middle, around.end());
    for (size_t i = 0; i < all.size(); ++i) {
      row_[static_cast<size_t>(all[i])] = static_cast<int64_t>(i);
    }
    const Tensor centre = at::empty({block.count}, at::kLong),
                 neighbour = at::empty({block.count}, at::kLong);
    auto *i = centre.mutable_data_ptr<int64_t>(), *j = neighbour.mutable_data_ptr<int64_t>();
    for (int64_t e = 0; e < block.count; ++e) {
      i[e] = from[e] - first + block.before;
      j[e] = row_[static_cast<size_t>(to[e])];
    }
    std::vector<int64_t> offsets(all.size() + 1, 0);
    for (size_t n = 0; n < all.size(); ++n) {
      const int64_t c = static_cast<int64_t>(n) - block.before;
      const bool own = c >= 0 && c < block.centres;
      offsets[n + 1] = offsets[n] + (own ? edges_.of_centre.size(first + c) : 0);
    }
    for (const int64_t n : all) {
      row_[static_cast<size_t>(n)] = -1;
    }
    const auto device = edges_.centre.device();
    block.edges.centre = centre.to(device);
    block.edges.neighbour = neighbour.to(device);
    block.edges.of_centre = Segments::of_offsets(std::move(offsets), device);
    block.nodes = at::tensor(all, at::kLong).to(device);
  }

  void number_bonds(Block& block) {
    const auto* all = bond_.const_data_ptr<int64_t>() + block.first_edge;
    const auto* first_of = edge_of_bond_.const_data_ptr<int64_t>();
    std::vector<int64_t> bonds, firsts, own;
    const Tensor bond = at::empty({block.count}, at::kLong);
    auto* to = bond.mutable_data_ptr<int64_t>();
    for (int64_t e = 0; e < block.count; ++e) {
      int64_t& row = bond_row_[static_cast<size_t>(all[e])];
      if (row < 0) {
        row = static_cast<int64_t>(bonds.size());
        if (first_of[all[e]] == block.first_edge + e) {
          own.push_back(row);
        }
        bonds.push_back(all[e]);
        firsts.push_back(e);
      }
      to[e] = row;
    }
    for (const int64_t b : bonds) {
      bond_row_[static_cast<size_t>(b)] = -1;
    }
    const auto device = edges_.centre.device();
    block.edges.bond = bond.to(device);
    block.edges.edge_of_bond = at::tensor(firsts, at::kLong).to(device);
    block.bonds = at::tensor(bonds, at::kLong).to(device);
    block.own_bonds = at::tensor(own, at::kLong).to(device);
  }

  const Edges& edges_;
  int64_t most_;
  Tensor centre_, neighbour_, bond_, edge_of_bond_;
  std::vector<int64_t> row_, bond_row_;  // in the block at hand, -1: not there
};

class EdgeBlocks : public Differentiable {
 public:
  EdgeBlocks(EdgeFunction f, EdgeBlockForm form, const Edges& edges, int64_t most)
      : f_(std::move(f)), form_(std::move(form)), edges_(edges), most_(most) {}

  size_t results() const override { return form_.results.size(); }
  Tensors reference(const Tensors& in) const override { return f_(in, edges_); }
  bool has_forward(const Tensors&) const override { return true; }
  bool has_backward(const Tensors&) const override { return true; }

  Tensors forward(const Tensors& in) const override {
    const at::NoGradGuard no_grad;
    Tensors results(form_.results.size());
    Cutter cutter(edges_, most_);
    for (Block block; cutter.next(block);) {
      const Tensors found = f_(of_block(in, block), block.edges);
      for (size_t r = 0; r < results.size(); ++r) {
        if (!results[r].defined()) {
          std::vector<int64_t> shape = found[r].sizes().vec();
          shape[0] = rows(form_.results[r]);
          results[r] = at::empty(shape, found[r].options());
        }
        put(results[r], found[r], form_.results[r], block);
      }
    }
    return results;
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    Tensors gradients(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      if (needed[i]) {
        gradients[i] = at::zeros_like(in[i], at::MemoryFormat::Contiguous);
      }
    }
    Cutter cutter(edges_, most_);
    for (Block block; cutter.next(block);) {
      add_gradients(in, gys, needed, block, gradients);
    }
    return gradients;
  }

 private:
  int64_t rows(BlockRows of) const {
    return of == BlockRows::node ? edges_.nodes() : of == BlockRows::edge ? edges_.count() : edges_.bonds();
  }

  Tensors of_block(const Tensors& in, const Block& block) const {
    Tensors own;
    for (size_t i = 0; i < in.size(); ++i) {
      const Tensor& x = in[i];
      switch (x.defined() ? form_.inputs[i] : BlockRows::whole) {
        case BlockRows::node:
          own.push_back(at::index_select(x, 0, block.nodes));
          break;
        case BlockRows::edge:
          own.push_back(x.narrow(0, block.first_edge, block.count));
          break;
        case BlockRows::bond:
          own.push_back(at::index_select(x, 0, block.bonds));
          break;
        case BlockRows::whole:
          own.push_back(x);
          break;
      }
    }
    return own;
  }

  static void put(const Tensor& all, const Tensor& found, BlockRows of, const Block& block) {
    if (of == BlockRows::node) {
      all.narrow(0, block.first_centre, block.centres).copy_(found.narrow(0, block.before, block.centres));
    } else if (of == BlockRows::edge) {
      all.narrow(0, block.first_edge, block.count).copy_(found);
    } else {
      all.index_copy_(0, at::index_select(block.bonds, 0, block.own_bonds),
                      at::index_select(found, 0, block.own_bonds));
    }
  }

  /// The gradient of a block's result, zero in the rows that are not its own.
  static Tensor own_gradient(const Tensor& gy, const Tensor& like, BlockRows of, const Block& block) {
    if (of == BlockRows::edge) {
      return gy.narrow(0, block.first_edge, block.count);
    }
    const Tensor own = at::zeros_like(like);
    if (of == BlockRows::node) {
      own.narrow(0, block.before, block.centres).copy_(gy.narrow(0, block.first_centre, block.centres));
    } else {
      own.index_copy_(0, block.own_bonds,
                      at::index_select(gy, 0, at::index_select(block.bonds, 0, block.own_bonds)));
    }
    return own;
  }

  void add_gradients(const Tensors& in, const Tensors& gys, const std::vector<bool>& needed,
                     const Block& block, const Tensors& gradients) const {
    Tensors own;
    {
      const at::NoGradGuard no_grad;
      own = of_block(in, block);
    }
    Tensors wanted, y, gy;
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].defined()) {
        own[i] = own[i].detach();
      }
      if (needed[i]) {
        own[i].requires_grad_(true);
        wanted.push_back(own[i]);
      }
    }
    const at::AutoGradMode on(true);
    const Tensors found = f_(own, block.edges);
    for (size_t r = 0; r < found.size(); ++r) {
      if (gys[r].defined() && found[r].requires_grad()) {
        y.push_back(found[r]);
        gy.push_back(own_gradient(gys[r], found[r].detach(), form_.results[r], block));
      }
    }
    if (y.empty()) {
      return;
    }
    const Tensors g = torch::autograd::grad(y, wanted, gy, /*retain_graph=*/false, /*create_graph=*/false,
                                            /*allow_unused=*/true);
    const at::NoGradGuard no_grad;
    size_t next = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      if (!needed[i]) {
        continue;
      }
      const Tensor& found_gradient = g[next++];
      if (!found_gradient.defined()) {
        continue;
      }
      switch (form_.inputs[i]) {
        case BlockRows::node:
          gradients[i].index_add_(0, block.nodes, found_gradient);
          break;
        case BlockRows::edge:
          gradients[i].narrow(0, block.first_edge, block.count).copy_(found_gradient);
          break;
        case BlockRows::bond:
          gradients[i].index_add_(0, block.bonds, found_gradient);
          break;
        case BlockRows::whole:
          gradients[i].add_(found_gradient);
          break;
      }
    }
  }

  EdgeFunction f_;
  EdgeBlockForm form_;
  Edges edges_;
  int64_t most_;
};

}  // namespace

Tensors in_edge_blocks(const EdgeFunction& f, const EdgeBlockForm& form, const Tensors& inputs,
                       const Edges& edges, int64_t most) {
  require(inputs.size() == form.inputs.size(), "edge blocks: must have ", form.inputs.size(), " inputs, got ",
          inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BlockRows of = form.inputs[i];
    const int64_t rows = of == BlockRows::node   ? edges.nodes()
                         : of == BlockRows::edge ? edges.count()
                                                 : edges.bonds();
    require(
        !inputs[i].defined() || of == BlockRows::whole || (inputs[i].dim() > 0 && inputs[i].size(0) == rows),
        "edge blocks: input ", i, " must have ", rows, " rows, got ",
        inputs[i].defined() ? inputs[i].sizes() : at::IntArrayRef{});
  }
  // A derivative would work f out again without the autocast of now.
  const auto device = edges.centre.device();
  if (edges.count() <= most || !device.is_cpu() || at::autocast::is_autocast_enabled(device.type())) {
    return f(inputs, edges);
  }
  return call(std::make_shared<EdgeBlocks>(f, form, edges, most), inputs);
}

}  // namespace weyl
