#include "weyl/ops/edges/nearest.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <vector>

#include "weyl/algebra/lattice/nearest_points.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl {
namespace {

constexpr double nanoseconds_of_neighbour = 100;  // found by one thread, of 32
constexpr double bytes_of_nearest = 200;          // while they are found and listed (neighbours.cpp)
constexpr double nearest_unasked = 1 << 26;       // bytes

/// The neighbours of the rows of one worker, in their order.
struct Found {
  std::vector<int64_t> neighbour, sizes;
};

void require_positions(const Tensor& positions, const Segments& graphs, int64_t count) {
  const char* where = "nearest_nodes";
  require(positions.defined() && positions.dim() == 2 && positions.size(0) == graphs.rows() &&
              positions.size(1) >= 1 && positions.size(1) <= 3,
          where, ": positions must be (", graphs.rows(), ", D) with D <= 3, got ",
          positions.defined() ? positions.sizes() : at::IntArrayRef{});
  require(count >= 1, where, ": the number of neighbours must be at least 1, got ", count);
}

double most_that_fit(const Segments& graphs) {
  if (static_cast<double>(graphs.pairs()) * bytes_of_nearest <= nearest_unasked) {
    return most_edges;
  }
  return std::min(most_edges, static_cast<double>(available_memory()) / bytes_of_nearest);
}

}  // namespace

NearestNodes nearest_nodes(const Tensor& positions, const Segments& graphs, int64_t count) {
  require_positions(positions, graphs, count);
  const Tensor places =
      at::constant_pad_nd(positions.detach().to(at::kCPU, at::kDouble), {0, 3 - positions.size(1)})
          .contiguous();
  const auto* r = places.const_data_ptr<double>();
  const double most = most_that_fit(graphs);
  const Tensor order = at::empty({graphs.rows()}, at::kLong), back = at::empty({graphs.rows()}, at::kLong);
  auto *node_of = order.mutable_data_ptr<int64_t>(), *row_of = back.mutable_data_ptr<int64_t>();
  std::vector<Found> all;
  std::atomic<int64_t> total = 0;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t first = graphs.offsets[g], nodes = graphs.size(g);
    const std::span<const double> own(r + 3 * first, static_cast<size_t>(3 * nodes));
    require(std::ranges::all_of(own, [](double x) { return std::isfinite(x); }), "nearest_nodes: graph ", g,
            ": positions must be finite");
    const NearestPoints nearest(own);
    for (int64_t i = 0; i < nodes; ++i) {
      node_of[first + i] = first + nearest.order()[static_cast<size_t>(i)];
      row_of[node_of[first + i]] = first + i;
    }
    const int64_t workers =
        workers_worth(nodes, nanoseconds_of_neighbour * static_cast<double>(std::min(count, nodes)));
    const size_t before = all.size();
    all.resize(before + static_cast<size_t>(workers));
    share_out(nodes, workers, [&](int64_t worker, int64_t begin, int64_t end) {
      Found& found = all[before + static_cast<size_t>(worker)];
      for (int64_t i = begin; i < end && static_cast<double>(total) <= most; ++i) {
        std::vector<int64_t> rows = nearest.as_near(node_of[first + i] - first, count);
        for (int64_t& row : rows) {
          row = row_of[first + row];
        }
        rows.push_back(first + i);
        std::ranges::sort(rows);
        found.neighbour.insert(found.neighbour.end(), rows.begin(), rows.end());
        found.sizes.push_back(std::ssize(rows));
        total += std::ssize(rows);
      }
    });
    require<MemoryError>(static_cast<double>(total) <= most, "nearest_nodes: graph ", g, ": its ", nodes,
                         " nodes have more than ", std::floor(most),
                         " neighbours that are as near as the nearest ", count,
                         ", more than there is memory for: many nodes are at one place");
  }
  const Tensor centre = at::empty({total}, at::kLong), neighbour = at::empty({total}, at::kLong);
  auto *i = centre.mutable_data_ptr<int64_t>(), *j = neighbour.mutable_data_ptr<int64_t>();
  int64_t row = 0;
  for (const Found& found : all) {
    for (const int64_t size : found.sizes) {
      i = std::fill_n(i, size, row++);
    }
    j = std::ranges::copy(found.neighbour, j).out;
  }
  const auto device = graphs.device();
  return {order.to(device), back.to(device), edges_of(centre, neighbour, {}, graphs)};
}

}  // namespace weyl
