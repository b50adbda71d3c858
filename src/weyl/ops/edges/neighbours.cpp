#include "weyl/ops/edges/neighbours.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/edges/neighbours.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

constexpr int64_t grain = 64;  // atoms that are worth a worker

const char* what_is_wrong(kernels::NeighbourFault fault) {
  switch (fault) {
    case kernels::NeighbourFault::positions_not_finite:
      return "positions must be finite";
    case kernels::NeighbourFault::cell_not_finite:
      return "cell must be finite";
    case kernels::NeighbourFault::cell_singular:
      return "periodic rows of cell must be linearly independent";
    case kernels::NeighbourFault::too_far_outside:
      return "positions must be within 2^30 cells of the cell";
    case kernels::NeighbourFault::too_many:
      return "cutoff must give fewer than 2^31 edges in this cell";
    case kernels::NeighbourFault::none:
      break;
  }
  return "";
}

}  // namespace

Edges neighbours(const Tensor& positions, const Segments& graphs, double cutoff, const Tensor& cell,
                 const Tensor& pbc, bool self) {
  const char* where = "neighbours";
  require(positions.defined() && positions.dim() == 2 && positions.size(0) == graphs.rows() &&
              positions.size(1) >= 1 && positions.size(1) <= 3,
          where, ": positions must be (", graphs.rows(), ", D) with D <= 3, got ",
          positions.defined() ? positions.sizes() : at::IntArrayRef{});
  require(std::isfinite(cutoff) && cutoff > 0, where, ": cutoff must be positive, got ", cutoff);
  require(cell.defined() == pbc.defined(), where, ": cell and pbc must come together");
  const int64_t count = graphs.count();
  if (cell.defined()) {
    require(positions.size(1) == 3, where, ": positions in a cell must be (N, 3), got ", positions.sizes());
    require(cell.sizes() == at::IntArrayRef({count, 3, 3}), where, ": cell must be (", count, ", 3, 3), got ",
            cell.sizes());
    require(pbc.sizes() == at::IntArrayRef({count, 3}) && pbc.scalar_type() == at::kBool, where,
            ": pbc must be (", count, ", 3) bool, got ", pbc.sizes());
  }
  const Tensor r =
      at::constant_pad_nd(positions.detach().to(at::kCPU, at::kDouble), {0, 3 - positions.size(1)})
          .contiguous();
  const Tensor box = cell.defined() ? cell.detach().to(at::kCPU, at::kDouble).contiguous() : cell,
               flags = pbc.defined() ? pbc.to(at::kCPU).contiguous() : pbc;

  std::vector<kernels::NeighbourList> lists(static_cast<size_t>(count));
  std::vector<kernels::NeighbourFault> faults(static_cast<size_t>(count), kernels::NeighbourFault::none);
  const int64_t workers =
      std::clamp<int64_t>(worker_count(graphs.rows(), grain), 1, std::max<int64_t>(count, 1));
  share_out(count, workers, [&](int64_t, int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      kernels::NeighbourSearch search;
      search.positions = r.const_data_ptr<double>() + 3 * graphs.offsets[g];
      search.atoms = graphs.size(g);
      if (box.defined()) {
        const bool* periodic = flags.const_data_ptr<bool>() + 3 * g;
        search.cell = box.const_data_ptr<double>() + 9 * g;
        search.periodic = {periodic[0], periodic[1], periodic[2]};
      }
      search.cutoff = cutoff;
      search.self = self;
      faults[g] = kernels::neighbours(search, lists[g]);
    }
  });
  int64_t total = 0;
  for (int64_t g = 0; g < count; ++g) {
    require(faults[g] == kernels::NeighbourFault::none, where, ": graph ", g, ": ", what_is_wrong(faults[g]));
    total += static_cast<int64_t>(lists[g].neighbour.size());
  }

  const Tensor centre = at::empty({total}, at::kLong), neighbour = at::empty({total}, at::kLong),
               shifts = cell.defined() ? at::empty({total, 3}, at::kLong) : Tensor();
  auto *i = centre.mutable_data_ptr<int64_t>(), *j = neighbour.mutable_data_ptr<int64_t>();
  auto* s = shifts.defined() ? shifts.mutable_data_ptr<int64_t>() : nullptr;
  for (int64_t g = 0; g < count; ++g) {
    kernels::NeighbourList& list = lists[g];
    const int64_t first = graphs.offsets[g];
    for (int64_t a = 0; a < graphs.size(g); ++a) {
      i = std::fill_n(i, list.offsets[a + 1] - list.offsets[a], first + a);
    }
    j = std::transform(list.neighbour.begin(), list.neighbour.end(), j, [&](int64_t b) { return first + b; });
    for (size_t e = 0; s && e < list.shift.size(); ++e) {
      s = std::copy(list.shift[e].begin(), list.shift[e].end(), s);
    }
    list = {};
  }
  return edges_of(centre, neighbour, shifts, graphs);
}

}  // namespace weyl
