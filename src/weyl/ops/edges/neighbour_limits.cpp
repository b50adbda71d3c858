#include "weyl/ops/edges/neighbour_limits.h"

#include <ATen/DeviceAccelerator.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"

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

}  // namespace weyl
