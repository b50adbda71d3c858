#include "weyl/ops/edges/edges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace {

/// Lists of edges on the host.
struct Lists {
  const int64_t *centre = nullptr, *neighbour = nullptr, *shift = nullptr;  // shift may be null

  std::array<int64_t, 3> shift_of(int64_t e) const {
    return shift ? std::array<int64_t, 3>{shift[3 * e], shift[3 * e + 1], shift[3 * e + 2]}
                 : std::array<int64_t, 3>{};
  }
  std::array<int64_t, 3> reverse_shift_of(int64_t e) const {
    const auto s = shift_of(e);
    return {-s[0], -s[1], -s[2]};
  }
};

/// Which edge is the reverse of each, -1 where there is none. Edges into a node, sorted by counting, and
/// edges out of it both stand in the order of the other node, so that one walk finds the matches.
std::vector<int64_t> reverses(const Lists& list, const std::vector<int64_t>& starts) {
  const int64_t count = starts.back(), nodes = static_cast<int64_t>(starts.size()) - 1;
  std::vector<int64_t> begins(starts.size(), 0), into(static_cast<size_t>(count)), reverse(into.size(), -1);
  for (int64_t e = 0; e < count; ++e) {
    ++begins[static_cast<size_t>(list.neighbour[e]) + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<int64_t> next(begins);
  for (int64_t e = 0; e < count; ++e) {
    into[static_cast<size_t>(next[static_cast<size_t>(list.neighbour[e])]++)] = e;
  }
  for (int64_t n = 0; n < nodes; ++n) {
    int64_t out = starts[n];
    const int64_t out_end = starts[n + 1], end = begins[n + 1];
    for (int64_t in = begins[n], in_end = in; in < end; in = in_end) {
      const int64_t other = list.centre[into[in]];
      while (in_end < end && list.centre[into[in_end]] == other) {
        ++in_end;
      }
      while (out < out_end && list.neighbour[out] < other) {
        ++out;
      }
      // Negated, the shifts of one pair of nodes stand in the opposite order.
      for (int64_t k = in_end - 1; k >= in && out < out_end && list.neighbour[out] == other;) {
        const auto wanted = list.reverse_shift_of(into[k]), found = list.shift_of(out);
        if (wanted == found) {
          reverse[into[k]] = out;
        }
        k -= wanted <= found ? 1 : 0;
        out += found <= wanted ? 1 : 0;
      }
    }
  }
  return reverse;
}

void find_bonds(Edges& edges, const Lists& list, at::Device device) {
  const std::vector<int64_t> reverse = reverses(list, edges.of_centre.offsets);
  const Tensor bond = at::empty({edges.count()}, at::kLong);
  auto* of = bond.mutable_data_ptr<int64_t>();
  std::vector<int64_t> first;
  for (int64_t e = 0; e < edges.count(); ++e) {
    if (reverse[e] >= 0 && reverse[e] < e) {
      of[e] = of[reverse[e]];
    } else {
      of[e] = static_cast<int64_t>(first.size());
      first.push_back(e);
    }
  }
  edges.bond = bond.to(device);
  edges.edge_of_bond = at::tensor(first, at::kLong).to(device);
}

/// Rows of nodes to rows of graphs: where the edges of each graph end.
std::vector<int64_t> ends_in_graphs(const std::vector<int64_t>& of_centre, const Segments& graphs) {
  std::vector<int64_t> offsets;
  for (const int64_t row : graphs.offsets) {
    offsets.push_back(of_centre[static_cast<size_t>(row)]);
  }
  return offsets;
}

/// Segments whose offsets are on the device already, (count + 1): what asks for them there finds them.
Segments segments_of(std::vector<int64_t> offsets, Tensor index, const Tensor& there) {
  Segments segments = Segments::of_index(std::move(offsets), std::move(index));
  segments.table("offsets", [&] { return std::vector{there.to(at::kInt)}; });
  segments.table("sizes",
                 [&] { return std::vector{(there.slice(0, 1) - there.slice(0, 0, -1)).to(at::kLong)}; });
  return segments;
}

/// Of all pairs: centre, neighbour, bond, edge of bond, graph, and where the pairs of each node and graph begin.
std::vector<Tensor> tables_of_pairs_on_host(const Segments& graphs, const std::vector<int64_t>& offsets) {
  const int64_t count = graphs.pairs();
  std::vector<int64_t> first;
  const Tensor neighbour = at::empty({count}, at::kLong), bond = at::empty({count}, at::kLong);
  auto *row = neighbour.mutable_data_ptr<int64_t>(), *of = bond.mutable_data_ptr<int64_t>();
  for (int64_t s = 0, begin = 0; s < graphs.count(); ++s) {
    const int64_t n = graphs.size(s);
    for (int64_t i = 0; i < n; ++i, row += n) {
      std::iota(row, row + n, graphs.offsets[s]);
      for (int64_t j = 0; j < n; ++j) {
        const int64_t e = begin + i * n + j;
        of[e] = j < i ? of[begin + j * n + i] : static_cast<int64_t>(first.size());
        if (j >= i) {
          first.push_back(e);
        }
      }
    }
    begin += n * n;
  }
  const Segments of_centre = Segments::of_offsets(offsets),
                 of_graph = Segments::of_offsets(ends_in_graphs(offsets, graphs));
  return {of_centre.index,
          neighbour,
          bond,
          at::tensor(first, at::kLong),
          of_graph.index,
          of_centre.offsets_on_device(),
          of_graph.offsets_on_device()};
}

/// The same, worked out on the device of the graphs: there may be far more pairs than it is good to bring there. On a
/// CPU it takes four times as long.
std::vector<Tensor> tables_of_pairs(const Segments& graphs, const std::vector<int64_t>& offsets) {
  const Tensor sizes = graphs.sizes_on_device().index_select(0, graphs.index),
               first = graphs.offsets_on_device().index_select(0, graphs.index);
  FoundEdges pairs;
  pairs.offsets = offsets;
  pairs.offsets_there = at::cat({at::zeros({1}, sizes.options()), at::cumsum(sizes, 0)});
  pairs.centre = at::repeat_interleave(sizes, std::optional<int64_t>(offsets.back()));
  const Tensor first_of_centre = first.index_select(0, pairs.centre);
  pairs.neighbour = at::arange(offsets.back(), sizes.options()) -
                    pairs.offsets_there.index_select(0, pairs.centre) + first_of_centre;
  pairs.reverse = pairs.offsets_there.index_select(0, pairs.neighbour) + pairs.centre - first_of_centre;
  pairs.own_reverses = graphs.rows();
  const Edges edges = edges_of(std::move(pairs), graphs);
  return {edges.centre,
          edges.neighbour,
          edges.bond,
          edges.edge_of_bond,
          edges.of_graph.index,
          edges.of_centre.offsets_on_device(),
          edges.of_graph.offsets_on_device()};
}

}  // namespace

Edges edges_of(const Tensor& centre, const Tensor& neighbour, const Tensor& shifts, const Segments& graphs) {
  const char* where = "edges_of";
  require(centre.defined() && centre.dim() == 1 && centre.scalar_type() == at::kLong, where,
          ": centre must be (E) int64");
  const int64_t count = centre.size(0), nodes = graphs.rows();
  require(neighbour.defined() && neighbour.sizes() == centre.sizes() && neighbour.scalar_type() == at::kLong,
          where, ": neighbour must be (", count, ") int64");
  require(!shifts.defined() ||
              (shifts.sizes() == at::IntArrayRef({count, 3}) && shifts.scalar_type() == at::kLong),
          where, ": shifts must be (", count, ", 3) int64");
  const auto device = graphs.device();
  const Tensor from = centre.to(at::kCPU).contiguous(), to = neighbour.to(at::kCPU).contiguous();
  const Tensor steps = shifts.defined() ? shifts.to(at::kCPU).contiguous() : shifts;
  const Lists list{from.const_data_ptr<int64_t>(), to.const_data_ptr<int64_t>(),
                   steps.defined() ? steps.const_data_ptr<int64_t>() : nullptr};
  const auto *i = list.centre, *j = list.neighbour;
  std::vector<int64_t> degrees(static_cast<size_t>(nodes), 0);
  for (int64_t e = 0, graph = 0; e < count; ++e) {
    require(i[e] >= 0 && i[e] < nodes, where, ": centres must be rows of nodes, 0 .. ", nodes - 1, ", got ",
            i[e], " at edge ", e);
    while (i[e] >= graphs.offsets[static_cast<size_t>(graph) + 1]) {
      ++graph;
    }
    const int64_t first = graphs.offsets[static_cast<size_t>(graph)],
                  end = graphs.offsets[static_cast<size_t>(graph) + 1];
    const auto after = [&] {
      return std::tuple(i[e], j[e], list.shift_of(e)) > std::tuple(i[e - 1], j[e - 1], list.shift_of(e - 1));
    };
    require(e == 0 || after(), where,
            ": edges must stand in the order of centre, neighbour and shift, none twice, got ", i[e], " -> ",
            j[e], " after ", i[e - 1], " -> ", j[e - 1], " at edge ", e);
    require(j[e] >= first && j[e] < end, where, ": the neighbour of edge ", e, " must be of graph ", graph,
            ", rows ", first, " .. ", end - 1, ", got ", j[e]);
    ++degrees[static_cast<size_t>(i[e])];
  }
  Edges edges;
  edges.centre = from.to(device);
  edges.neighbour = to.to(device);
  edges.shifts = shifts.defined() ? shifts.to(device) : shifts;
  edges.of_centre = Segments::of_sizes(degrees, device);
  edges.of_graph = Segments::of_offsets(ends_in_graphs(edges.of_centre.offsets, graphs), device);
  find_bonds(edges, list, device);
  return edges;
}

Edges edges_of(FoundEdges found, const Segments& graphs) {
  const int64_t count = found.centre.size(0), bonds = (count + found.own_reverses) / 2;
  // Of an edge and its reverse, the one that comes first is the first of their bond.
  const auto whole = found.centre.options();
  const Tensor rows = at::arange(count, whole);
  const Tensor numbers = at::cumsum(rows <= found.reverse, 0, at::kLong);
  Edges edges;
  edges.bond = numbers.index_select(0, at::minimum(rows, found.reverse)) - 1;
  edges.edge_of_bond = at::searchsorted(numbers, at::arange(1, bonds + 1, whole));
  edges.of_graph =
      segments_of(ends_in_graphs(found.offsets, graphs), graphs.index.index_select(0, found.centre),
                  found.offsets_there.index_select(0, graphs.offsets_on_device()));
  edges.of_centre = segments_of(std::move(found.offsets), found.centre, found.offsets_there);
  edges.centre = std::move(found.centre);
  edges.neighbour = std::move(found.neighbour);
  edges.shifts = std::move(found.shifts);
  return edges;
}

Edges all_pairs(const Segments& graphs) {
  std::vector<int64_t> offsets{0};
  for (int64_t s = 0; s < graphs.count(); ++s) {
    for (int64_t i = 0; i < graphs.size(s); ++i) {
      offsets.push_back(offsets.back() + graphs.size(s));
    }
  }
  const bool on_host = graphs.device().is_cpu() && !WithoutKernels::active();
  const std::vector<Tensor>& tables = graphs.table("all pairs", [&] {
    return on_host ? tables_of_pairs_on_host(graphs, offsets) : tables_of_pairs(graphs, offsets);
  });
  Edges edges;
  edges.centre = tables[0];
  edges.neighbour = tables[1];
  edges.bond = tables[2];
  edges.edge_of_bond = tables[3];
  edges.of_graph = segments_of(ends_in_graphs(offsets, graphs), tables[4], tables[6]);
  edges.of_centre = segments_of(std::move(offsets), tables[0], tables[5]);
  return edges;
}

Tensor displacements(const Tensor& positions, const Edges& edges, const Tensor& cell) {
  const char* where = "displacements";
  require(positions.defined() && positions.dim() == 2 && positions.size(0) == edges.nodes(), where,
          ": positions must be (", edges.nodes(), ", D), got ",
          positions.defined() ? positions.sizes() : at::IntArrayRef{});
  Tensor x = positions.index_select(0, edges.neighbour) - positions.index_select(0, edges.centre);
  if (!edges.shifts.defined()) {
    return x;
  }
  require(positions.size(1) == 3, where, ": positions in a cell must be (N, 3), got ", positions.sizes());
  require(cell.defined() && cell.sizes() == at::IntArrayRef({edges.graphs(), 3, 3}), where,
          ": edges with shifts need a cell (", edges.graphs(), ", 3, 3), got ",
          cell.defined() ? cell.sizes() : at::IntArrayRef{});
  require(cell.scalar_type() == positions.scalar_type(), where, ": cell must have the dtype of positions, ",
          positions.scalar_type(), ", got ", cell.scalar_type());
  const Tensor lattice = cell.index_select(0, edges.of_graph.index);  // (E, 3, 3)
  return x + (edges.shifts.to(x.scalar_type()).unsqueeze(2) * lattice).sum(1);
}

Polar polar(const Tensor& x) {
  require(x.defined() && x.dim() == 2, "polar: x must be (E, D), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  const Tensor squares = (x * x).sum(1), zero = squares == 0;
  // The root is taken of ones where the length is zero, so that no infinite slope arises to be multiplied by
  // 0.
  const Tensor root = squares.masked_fill(zero, 1).sqrt();
  return {root.masked_fill(zero, 0), x / root.unsqueeze(1)};
}

EdgeOrder edges_by(const Tensor& row, int64_t rows) {
  EdgeOrder order;
  const auto* of = row.const_data_ptr<int64_t>();
  order.begins.assign(static_cast<size_t>(rows) + 1, 0);
  for (int64_t e = 0; e < row.size(0); ++e) {
    ++order.begins[static_cast<size_t>(of[e]) + 1];
  }
  std::partial_sum(order.begins.begin(), order.begins.end(), order.begins.begin());
  std::vector<int64_t> next(order.begins);
  order.edges.resize(static_cast<size_t>(row.size(0)));
  for (int64_t e = 0; e < row.size(0); ++e) {
    order.edges[static_cast<size_t>(next[static_cast<size_t>(of[e])]++)] = e;
  }
  return order;
}

}  // namespace weyl
