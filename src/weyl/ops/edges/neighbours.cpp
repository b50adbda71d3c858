#include "weyl/ops/edges/neighbours.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/ops/edges/device_neighbours.h"

namespace weyl {
namespace {

// A periodic cell gives as many edges as the cutoff asks for, up to a few hundred where it is sensible: 12 Angstrom in
// water are 700.
constexpr double most_an_atom = 10'000;
// What an edge takes while edges are found: as a candidate, in the list of its graph, in the result and its bonds.
constexpr double bytes_an_edge = 200;
constexpr double taken_without_asking = 1 << 26;  // bytes

int64_t mebibytes(double bytes) {
  return static_cast<int64_t>(std::min(std::ceil(bytes / (1 << 20)), 1e18));
}

/// Bytes that may still be taken. On a device, what its allocator keeps for tensors to come is as good as free.
double available_on(at::Device device) {
  if (device.is_cpu()) {
    return static_cast<double>(available_memory());
  }
  const auto stats = at::accelerator::getDeviceStats(device.index());
  constexpr auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return static_cast<double>(at::accelerator::getMemoryInfo(device.index()).first) +
         static_cast<double>(stats.reserved_bytes[all].current - stats.allocated_bytes[all].current);
}

const char* what_is_wrong(NeighbourFault fault) {
  switch (fault) {
    case NeighbourFault::positions_not_finite:
      return "positions must be finite";
    case NeighbourFault::cell_not_finite:
      return "cell must be finite";
    case NeighbourFault::cell_singular:
      return "periodic rows of cell must be linearly independent";
    case NeighbourFault::too_far_outside:
      return "positions must be within 2^30 cells of the cell";
    case NeighbourFault::too_many:
      return "cutoff must give fewer than 2^31 edges, and no more than fit the memory there is";
    case NeighbourFault::none:
      break;
  }
  return "";
}

}  // namespace

ExpectedEdges expected_edges(const NeighbourSearch& s, int64_t atoms) {
  const bool periodic = s.periodic[0] || s.periodic[1] || s.periodic[2];
  const auto n = static_cast<double>(atoms);
  if (atoms == 0 || (!periodic && atoms <= few_atoms)) {
    return {atoms, periodic, n * n};
  }
  const double times = n / static_cast<double>(s.atoms);
  return {atoms, periodic, times * times * expected_edges(s)};
}

double limit_edges(std::span<const ExpectedEdges> graphs, double cutoff, at::Device device) {
  double largest = 0, sum = 0;  // of edges that there may be
  for (size_t g = 0; g < graphs.size(); ++g) {
    const auto& [atoms, periodic, expected] = graphs[g];
    const auto n = static_cast<double>(atoms);
    require(!periodic || expected <= most_an_atom * n, "neighbours: graph ", g, ": a cutoff of ", cutoff,
            " makes about ", std::round(expected), " edges, ", std::round(expected / n), " for each of the ",
            atoms, " atoms, which take ", mebibytes(expected * bytes_an_edge), " MiB; at most ", most_an_atom,
            " for an atom are taken: take a smaller cutoff");
    require(expected <= most_edges, "neighbours: graph ", g, ": a cutoff of ", cutoff, " makes about ",
            std::round(expected), " edges, which take ", mebibytes(expected * bytes_an_edge),
            " MiB; at most ", most_edges, " are taken: take a smaller cutoff");
    largest = std::max(largest, periodic ? 2 * expected : n * n);
    sum += expected;
  }
  if (std::max(largest, sum) * bytes_an_edge <= taken_without_asking) {
    return most_edges;
  }
  const double available = available_on(device);
  require<MemoryError>(sum * bytes_an_edge <= available, "neighbours: a cutoff of ", cutoff, " makes about ",
                       std::round(sum), " edges, which take ", mebibytes(sum * bytes_an_edge),
                       " MiB of memory, ", mebibytes(available),
                       " are available: take a smaller cutoff or smaller batches");
  return std::min(most_edges, available / bytes_an_edge);
}

void require_memory_of_pairs(double pairs, double bytes, double cutoff, at::Device device) {
  if (bytes <= taken_without_asking) {
    return;
  }
  const double available = available_on(device);
  require<MemoryError>(bytes <= available, "neighbours: a cutoff of ", cutoff, " compares ", pairs,
                       " pairs of atoms, which take ", mebibytes(bytes), " MiB of memory, ",
                       mebibytes(available), " are available: take a smaller cutoff or smaller batches");
}

void require_no_fault(NeighbourFault fault, int64_t graph) {
  require(fault == NeighbourFault::none, "neighbours: graph ", graph, ": ", what_is_wrong(fault));
}

namespace {

// Measured on one thread, at 50 neighbours an atom.
constexpr double nanoseconds_of_atom = 2000;
constexpr double nanoseconds_of_pair = 1;  // of a few atoms of an open system

double nanoseconds_of(const NeighbourSearch& s) {
  const auto n = static_cast<double>(s.atoms);
  const bool few = s.atoms <= few_atoms && !s.periodic[0] && !s.periodic[1] && !s.periodic[2];
  return few ? n * n * nanoseconds_of_pair : n * nanoseconds_of_atom;
}

/// The searches of a batch, checked by the density of each before any memory is taken.
std::vector<NeighbourSearch> searches_of(const Tensor& positions, const Segments& graphs, double cutoff,
                                         const Tensor& cell, const Tensor& pbc, bool self) {
  std::vector<NeighbourSearch> searches;
  std::vector<ExpectedEdges> expected;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    NeighbourSearch search;
    search.positions = positions.const_data_ptr<double>() + 3 * graphs.offsets[g];
    search.atoms = graphs.size(g);
    if (cell.defined()) {
      const bool* periodic = pbc.const_data_ptr<bool>() + 3 * g;
      search.cell = cell.const_data_ptr<double>() + 9 * g;
      search.periodic = {periodic[0], periodic[1], periodic[2]};
    }
    search.radius = cutoff;
    search.self = self;
    searches.push_back(search);
    expected.push_back(expected_edges(search, search.atoms));
  }
  const double most = limit_edges(expected, cutoff, at::kCPU);
  for (NeighbourSearch& search : searches) {
    search.most_edges = most;
  }
  return searches;
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
  if (!positions.is_cpu() || WithoutKernels::active()) {
    return device_neighbours(positions, graphs, cutoff, cell, pbc, self);
  }
  const Tensor r =
      at::constant_pad_nd(positions.detach().to(at::kCPU, at::kDouble), {0, 3 - positions.size(1)})
          .contiguous();
  const Tensor box = cell.defined() ? cell.detach().to(at::kCPU, at::kDouble).contiguous() : cell,
               flags = pbc.defined() ? pbc.to(at::kCPU).contiguous() : pbc;

  const std::vector<NeighbourSearch> searches = searches_of(r, graphs, cutoff, box, flags, self);
  double nanoseconds = 0;
  for (const NeighbourSearch& search : searches) {
    nanoseconds += nanoseconds_of(search);
  }
  std::vector<NeighbourList> lists(static_cast<size_t>(count));
  std::vector<NeighbourFault> faults(static_cast<size_t>(count), NeighbourFault::none);
  // A graph of more than a worker's share is shared out among all; the others follow, some to each worker.
  const int64_t workers =
      workers_worth(std::max<int64_t>(graphs.rows(), 1),
                    nanoseconds / std::max<double>(1, static_cast<double>(graphs.rows())));
  const double share = nanoseconds / static_cast<double>(workers);
  std::vector<int64_t> begins{0};  // of the graphs of each worker
  double before = 0;
  for (int64_t g = 0; g < count; ++g) {
    const double own = nanoseconds_of(searches[g]);
    if (workers > 1 && own > share) {
      faults[g] = find_neighbours(searches[g], lists[g], workers, share_out);
    }
    for (before += own; before >= share * static_cast<double>(begins.size()) &&
                        static_cast<int64_t>(begins.size()) < workers;) {
      begins.push_back(g + 1);
    }
  }
  begins.resize(static_cast<size_t>(workers) + 1, count);
  for_workers(workers, [&](int64_t w) {
    for (int64_t g = begins[w]; g < begins[w + 1]; ++g) {
      if (workers == 1 || nanoseconds_of(searches[g]) <= share) {
        faults[g] = find_neighbours(searches[g], lists[g]);
      }
    }
  });
  int64_t total = 0;
  for (int64_t g = 0; g < count; ++g) {
    require_no_fault(faults[g], g);
    total += static_cast<int64_t>(lists[g].neighbour.size());
  }

  const Tensor centre = at::empty({total}, at::kLong), neighbour = at::empty({total}, at::kLong),
               shifts = cell.defined() ? at::empty({total, 3}, at::kLong) : Tensor();
  auto *i = centre.mutable_data_ptr<int64_t>(), *j = neighbour.mutable_data_ptr<int64_t>();
  auto* s = shifts.defined() ? shifts.mutable_data_ptr<int64_t>() : nullptr;
  for (int64_t g = 0; g < count; ++g) {
    NeighbourList& list = lists[g];
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
