#include "weyl/ops/edges/device_neighbours.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double far = 1 << 30;  // cells
// A cell of atoms is a little wider than the cutoff, for what rounding does to places of up to `most_cells` widths.
constexpr double margin = 1 + 1e-3;
constexpr int64_t most_cells = int64_t{1} << 40;
// Of an edge's number and whether it is one, for each pair that is compared.
constexpr double bytes_a_pair = 18;

// Nothing here is `where` with a number, which would be brought to the device with a wait: `masked_fill` takes it along.

Tensor zero_and(const Tensor& sums) {
  return at::cat({at::zeros({1}, sums.options()), sums});
}

/// Rows of graphs to rows of their atoms.
Tensor of_atoms(const Tensor& of_graphs, const Segments& graphs) {
  return of_graphs.index_select(0, graphs.index);
}

/// The first node of the graph of each node.
Tensor first_nodes(const Segments& graphs) {
  return of_atoms(graphs.offsets_on_device(), graphs);
}

/// Which pairs (i, j) are nearer than the cutoff, r_j moved by `move` (C, 3) where it is defined. Decided as the
/// search of the CPU does, by the same operations on float64, each rounded, in the same order: a pair and its
/// reverse differ by signs alone.
Tensor nearer(const Tensor& r, const Tensor& i, const Tensor& j, const Tensor& move, double cutoff) {
  Tensor away = r.index_select(0, j) - r.index_select(0, i);
  if (move.defined()) {
    away = away + move;
  }
  const Tensor of_axes = away * away;
  Tensor squares = of_axes.select(1, 0);
  for (int64_t c = 1; c < of_axes.size(1); ++c) {
    squares = squares + of_axes.select(1, c);
  }
  return squares < cutoff * cutoff;
}

/// The number of edges of each node as the host has it, where the edges of the nodes begin. Where nodes have a fault
/// their numbers are negative: ShapeError.
std::vector<int64_t> offsets_of(const Tensor& degrees, const Segments& graphs, double most) {
  const Tensor host = degrees.to(at::kCPU);
  const auto* of = host.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets{0};
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t before = offsets.back();
    for (int64_t i = graphs.offsets[g]; i < graphs.offsets[g + 1]; ++i) {
      require_no_fault(of[i] < 0 ? static_cast<NeighbourFault>(-of[i]) : NeighbourFault::none, g);
      offsets.push_back(offsets.back() + of[i]);
    }
    require_no_fault(
        static_cast<double>(offsets.back() - before) > most ? NeighbourFault::too_many : NeighbourFault::none,
        g);
  }
  return offsets;
}

/// `degrees` where `bad` is set replaced by what `offsets_of` takes for the fault.
Tensor with_fault(const Tensor& degrees, const Tensor& bad, NeighbourFault fault) {
  return degrees.masked_fill(bad, -static_cast<int64_t>(fault));
}

int64_t own_reverses(bool self, double cutoff, const Segments& graphs) {
  return self && cutoff * cutoff > 0 ? graphs.rows() : 0;
}

/// Edges of an open batch, chosen among all pairs: these stand in the order of edges.
Edges among_all_pairs(const Tensor& r, const Segments& graphs, double cutoff, bool self) {
  const Edges pairs = all_pairs(graphs);
  Tensor near = nearer(r, pairs.centre, pairs.neighbour, {}, cutoff);
  if (!self) {
    near = near.logical_and(pairs.centre != pairs.neighbour);
  }
  const Tensor found = at::cumsum(near, 0, at::kLong), begins = pairs.of_centre.offsets_on_device();
  FoundEdges edges;
  edges.offsets_there = zero_and(found).index_select(0, begins);
  const Tensor degrees = edges.offsets_there.slice(0, 1) - edges.offsets_there.slice(0, 0, -1);
  edges.offsets =
      offsets_of(with_fault(degrees, r.isfinite().all(1).logical_not(), NeighbourFault::positions_not_finite),
                 graphs, most_edges);
  const Tensor which = at::searchsorted(found, at::arange(1, edges.offsets.back() + 1, found.options()));
  edges.centre = pairs.centre.index_select(0, which);
  edges.neighbour = pairs.neighbour.index_select(0, which);
  const Tensor reverse = begins.index_select(0, edges.neighbour) +
                         (edges.centre - first_nodes(graphs).index_select(0, edges.centre));
  edges.reverse = found.index_select(0, reverse) - 1;
  edges.own_reverses = own_reverses(self, cutoff, graphs);
  return edges_of(std::move(edges), graphs);
}

/// How the space of each graph is divided, on the device.
struct Lattice {
  Tensor directions;  // (B, 3, 3): places along axes are products with them, in cells along periodic ones
  Tensor heights;     // (B, 3): of the cell along periodic axes; of a lattice as it is given only
  Tensor cells;       // (B, 3) int64: that divide periodic axes
  Tensor given;   // (B, 3, 3) int64: the basis that periodic axes belong to, in multiples of the given one
  Tensor coarse;  // (B) int64: cells of open axes that are taken together
  Tensor open_cells;  // (B) int64: more than these there are not
  // Steps to neighbouring cells (S, 3): those of a graph, so many from its first.
  Tensor steps, first_step, step_count;
  // Images of a cell, up to `most_images` (B, 3) to each side, x before y before z: their shifts in the given basis
  // (M, 3), and what place each has in the order of shifts.
  Tensor image_shifts, image_ranks, most_images, first_image, image_count;
  int64_t ranks = 1;   // of any graph, at most
  int64_t ranges = 0;  // atoms times steps
};

/// Makes the lists of a Lattice on the host.
class LatticeLists {
 public:
  struct List {
    int64_t first_step, step_count, first_image, image_count;
    Shift3 most_images;
  };

  /// Steps of up to `reach` to each side, that lead to images of up to `images`.
  List list(const Shift3& reach, const Shift3& images, const std::array<Shift3, 3>& given) {
    List list{static_cast<int64_t>(steps_.size()) / 3, 0, static_cast<int64_t>(ranks_.size()), 0, images};
    for_all(reach, [&](const Shift3& step) { steps_.insert(steps_.end(), step.begin(), step.end()); });
    std::vector<Shift3> shifts;
    for_all(images, [&](const Shift3& image) {
      Shift3 shift{};
      for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 3; ++c) {
          shift[c] += image[k] * given[k][c];
        }
      }
      shifts.push_back(shift);
      shifts_.insert(shifts_.end(), shift.begin(), shift.end());
    });
    std::vector<Shift3> sorted = shifts;
    std::sort(sorted.begin(), sorted.end());
    for (const Shift3& shift : shifts) {
      ranks_.push_back(std::lower_bound(sorted.begin(), sorted.end(), shift) - sorted.begin());
    }
    list.step_count = static_cast<int64_t>(steps_.size()) / 3 - list.first_step;
    list.image_count = static_cast<int64_t>(shifts.size());
    most_ranks_ = std::max(most_ranks_, list.image_count);
    return list;
  }

  /// The next graph, of n atoms, has this list; cells of open axes are taken together, `coarse` of them.
  void graph(int64_t n, const List& list, int64_t coarse) {
    first_step_.push_back(list.first_step);
    step_count_.push_back(list.step_count);
    first_image_.push_back(list.first_image);
    image_count_.push_back(list.image_count);
    most_images_.insert(most_images_.end(), list.most_images.begin(), list.most_images.end());
    coarse_.push_back(coarse);
    // Those of n atoms, none of which is more than two from the next, and an empty one at both ends.
    open_cells_.push_back(2 * std::max<int64_t>(n - 1, 0) / coarse + 3);
    ranges_ += n * list.step_count;
  }

  std::vector<Tensor> tensors(at::Device device) const {
    std::vector<Tensor> all;
    for (const auto* rows : {&steps_, &shifts_, &most_images_}) {
      all.push_back(to_device(at::tensor(*rows, at::kLong).view({-1, 3}), device));
    }
    for (const auto* values :
         {&ranks_, &first_step_, &step_count_, &first_image_, &image_count_, &coarse_, &open_cells_}) {
      all.push_back(to_device(at::tensor(*values, at::kLong), device));
    }
    return all;
  }

  static void put(Lattice& to, const std::vector<Tensor>& tensors, int64_t ranks, int64_t ranges) {
    size_t next = 0;
    for (Tensor* t : {&to.steps, &to.image_shifts, &to.most_images, &to.image_ranks, &to.first_step,
                      &to.step_count, &to.first_image, &to.image_count, &to.coarse, &to.open_cells}) {
      *t = tensors[next++];
    }
    to.ranks = ranks;
    to.ranges = ranges;
  }
  int64_t ranks() const { return most_ranks_; }
  int64_t ranges() const { return ranges_; }

 private:
  template <class F>
  static void for_all(const Shift3& most, const F& f) {
    for (int64_t x = -most[0]; x <= most[0]; ++x) {
      for (int64_t y = -most[1]; y <= most[1]; ++y) {
        for (int64_t z = -most[2]; z <= most[2]; ++z) {
          f(Shift3{x, y, z});
        }
      }
    }
  }

  std::vector<int64_t> steps_, shifts_, ranks_;
  std::vector<int64_t> first_step_, step_count_, first_image_, image_count_, most_images_, coarse_,
      open_cells_;
  int64_t most_ranks_ = 1, ranges_ = 0;
};

/// Cells along an axis of a graph, at most: so many that all cells of all graphs can be numbered.
int64_t cells_along(const Segments& graphs) {
  const double all = 1LL << 62, graph = std::max<double>(1, static_cast<double>(graphs.count()));
  return static_cast<int64_t>(std::cbrt(all / graph)) - 4;
}

int64_t coarse_of(int64_t atoms, int64_t most) {
  return 2 * std::max<int64_t>(atoms - 1, 0) / most + 1;
}

/// The vectors of cells along periodic axes, zero along the others: (B, 3, 3).
Tensor periodic_rows(const Tensor& cell, const Tensor& pbc) {
  return cell.masked_fill(pbc.logical_not().unsqueeze(2), 0);
}

/// The basis of each cell as it is given, worked out on the device; each atom looks into the cells next to its
/// own. Right where the cells have room for the cutoff and are not very skewed (`Known::fits`). Open axes are those
/// of space, without what lies along periodic ones.
Lattice given_lattice(const Tensor& cell, const Tensor& pbc, const Segments& graphs, double cutoff) {
  const int64_t count = graphs.count(), most = cells_along(graphs);
  const Tensor rows = periodic_rows(cell, pbc), open = pbc.logical_not().to(at::kDouble);
  const Tensor identity = at::eye(3, rows.options());
  // Rows of the inverse of the products of rows, which are 1 for open axes.
  const Tensor products = (rows.unsqueeze(2) * rows.unsqueeze(1)).sum(3) + open.unsqueeze(2) * identity;
  const Tensor crossed = at::linalg_cross(products.roll({-1}, {1}), products.roll({-2}, {1}));
  const Tensor determinant = (products.select(1, 0) * crossed.select(1, 0)).sum(1);
  const Tensor inverse = crossed / determinant.view({count, 1, 1});
  const Tensor duals = (inverse.unsqueeze(3) * rows.unsqueeze(1)).sum(2);
  const Tensor within = (rows.unsqueeze(3) * duals.unsqueeze(2)).sum(1);  // the part along periodic axes
  Lattice lattice;
  lattice.directions = at::where(pbc.unsqueeze(2), duals, identity - within);
  lattice.heights = (duals * duals).sum(2).rsqrt();
  lattice.cells =
      (lattice.heights / (cutoff * margin)).nan_to_num(1).clamp(1, static_cast<double>(most)).to(at::kLong);
  lattice.given = at::eye(3, graphs.index.options()).expand({count, 3, 3});
  const Shift3 one{1, 1, 1};
  const auto make = [&] {
    LatticeLists lists;
    const auto list = lists.list(one, one, {Shift3{1, 0, 0}, Shift3{0, 1, 0}, Shift3{0, 0, 1}});
    for (int64_t g = 0; g < count; ++g) {
      lists.graph(graphs.size(g), list, coarse_of(graphs.size(g), most));
    }
    return lists.tensors(graphs.device());
  };
  LatticeLists::put(lattice, graphs.table("steps to neighbouring cells", make), 27, 27 * graphs.rows());
  return lattice;
}

/// Pairs of atoms to be compared: those of each atom with the atoms of one neighbouring cell are a range.
struct Ranges {
  Tensor atom, graph, image;  // (R) of each range; the image as a row of the lattice's
  Tensor ends;                // (R) how many pairs there are up to its own
  Tensor to_member;           // (R) from the number of a pair to the place of its atom among members
  Tensor members;             // (N) atoms, sorted by their cells
  Tensor away;                // (N, 3) int64: the cell of the given lattice in which an atom stands
  Tensor too_far;             // (N) bool
  Tensor begins;              // (N + 1) the first range of each atom
};

/// The cell of each atom along each axis, (N, 3) int64, and the cell of the lattice it stands in.
Tensor cells_of_atoms(const Tensor& r, const Tensor& pbc, const Segments& graphs, double cutoff,
                      const Lattice& lattice, Ranges& ranges) {
  const Tensor periodic = of_atoms(pbc, graphs), open = periodic.logical_not();
  const Tensor along = (of_atoms(lattice.directions, graphs) * r.unsqueeze(1)).sum(2);
  const Tensor beyond = (along.floor().abs() < far).logical_not().logical_and(periodic);
  ranges.too_far = beyond.any(1);

  const Tensor cells = of_atoms(lattice.cells, graphs), parts = along.masked_fill(beyond.logical_or(open), 0);
  const Tensor whole = parts.floor();
  ranges.away = (whole.to(at::kLong).unsqueeze(2) * of_atoms(lattice.given, graphs)).sum(1);
  const Tensor in_periodic = ((parts - whole) * cells).floor().to(at::kLong).minimum(cells - 1);

  // Along open axes cells are numbered from the first atom's. Of empty ones between two atoms only one is kept, so that
  // an atom far away costs nothing. Sorted are numbers that have the graph before the cell: places of atoms are then
  // places of their graph.
  const Tensor places = along.masked_fill(periodic, 0).nan_to_num(0, 1e300, -1e300);
  const Tensor index = graphs.index.unsqueeze(1).expand({-1, 3});
  const Tensor low =
      at::full({graphs.count(), 3}, infinity, r.options()).scatter_reduce(0, index, places, "amin");
  const Tensor numbers = ((places - of_atoms(low, graphs)) / (cutoff * margin))
                             .clamp_max(static_cast<double>(most_cells))
                             .to(at::kLong);
  const auto [sorted, order] =
      (numbers + 2 * most_cells * graphs.index.unsqueeze(1)).t().contiguous().sort(1);
  const Tensor steps =
      at::constant_pad_nd(sorted.slice(1, 1) - sorted.slice(1, 0, std::max<int64_t>(graphs.rows() - 1, 0)),
                          {std::min<int64_t>(graphs.rows(), 1), 0});
  const Tensor dense = at::cumsum(steps.clamp_max(2), 1);
  const Tensor from_first = dense - dense.index_select(1, first_nodes(graphs));
  const Tensor in_open = at::empty_like(dense).scatter_(1, order, from_first).t();
  return at::where(periodic, in_periodic,
                   in_open.div(of_atoms(lattice.coarse, graphs).unsqueeze(1), "floor") + 1);
}

/// Finite positions r (N, 3); pbc (B, 3).
Ranges ranges_of(const Tensor& r, const Tensor& pbc, const Segments& graphs, double cutoff,
                 const Lattice& lattice) {
  Ranges ranges;
  const Tensor cell = cells_of_atoms(r, pbc, graphs, cutoff, lattice, ranges);
  const Tensor sizes = at::where(pbc, lattice.cells, lattice.open_cells.unsqueeze(1));
  const Tensor all = sizes.select(1, 0) * sizes.select(1, 1) * sizes.select(1, 2);
  const Tensor first_cell = at::cumsum(all, 0) - all;
  const auto number = [](const Tensor& at, const Tensor& of, const Tensor& first) {
    return first +
           ((at.select(1, 0) * of.select(1, 1) + at.select(1, 1)) * of.select(1, 2) + at.select(1, 2));
  };
  const auto [sorted, members] = number(cell, of_atoms(sizes, graphs), of_atoms(first_cell, graphs)).sort(0);
  ranges.members = members;

  const Tensor counts = of_atoms(lattice.step_count, graphs);
  ranges.begins = zero_and(at::cumsum(counts, 0));
  ranges.atom = at::repeat_interleave(counts, std::optional<int64_t>(lattice.ranges));
  ranges.graph = graphs.index.index_select(0, ranges.atom);
  const auto of = [&](const Tensor& x) { return x.index_select(0, ranges.graph); };
  const Tensor step = at::arange(lattice.ranges, counts.options()) -
                      ranges.begins.index_select(0, ranges.atom) + of(lattice.first_step);
  Tensor to = cell.index_select(0, ranges.atom) + lattice.steps.index_select(0, step);
  const Tensor around = of(sizes), image = to.div(around, "floor"), most = of(lattice.most_images);
  to = to - image * around;
  ranges.image = number(image + most, 2 * most + 1, of(lattice.first_image));

  const Tensor wanted = number(to, around, of(first_cell));
  const Tensor begin = at::searchsorted(sorted, wanted);
  const Tensor count = at::searchsorted(sorted, wanted, /*out_int32=*/false, /*right=*/true) - begin;
  ranges.ends = at::cumsum(count, 0);
  ranges.to_member = begin - (ranges.ends - count);
  return ranges;
}

/// What the host knows of a batch.
struct Known {
  std::vector<LatticeBasis> bases;
  std::vector<std::array<bool, 3>> periodic;
  double most_edges = 0;  // that a graph may have
  bool fits = true;       // the lattice will do as it is given
  int64_t pairs = 0;      // to be compared in it
};

/// One row of what is brought to the host for each graph: the box that holds its atoms (from -- to), whether their
/// positions are finite, its cell, periodic axes and heights.
struct GraphRow {
  static constexpr int64_t size = 22;
  const double* at;

  NeighbourSearch search(double cutoff) const {
    NeighbourSearch search;
    search.cell = at + 7;
    search.periodic = {at[16] != 0, at[17] != 0, at[18] != 0};
    search.radius = cutoff;
    return search;
  }
  /// (8, 3): they stand for the atoms, over whose box an expected number of edges is spread.
  std::array<double, 24> corners() const {
    std::array<double, 24> corners{};
    for (int k = 0; k < 24; ++k) {
      corners[k] = (k / 3) >> (k % 3) & 1 ? -at[3 + k % 3] : at[k % 3];
    }
    return corners;
  }
  bool finite() const { return at[6] != 0; }
  /// The cell has room for the cutoff, and its vectors do not lie so close to one plane that rounding matters.
  bool fits(double cutoff) const {
    bool all = true;
    for (int k = 0; k < 3; ++k) {
      const double *row = at + 7 + 3 * k, height = at[19 + k];
      const double length = std::hypot(row[0], row[1], row[2]);
      all = all && (at[16 + k] == 0 || (height >= cutoff * margin && height >= 0.1 * length));
    }
    return all;
  }
};

NeighbourFault fault_of(const GraphRow& row, LatticeFault lattice) {
  if (!row.finite()) {
    return NeighbourFault::positions_not_finite;
  }
  return lattice == LatticeFault::not_finite ? NeighbourFault::cell_not_finite
         : lattice == LatticeFault::singular ? NeighbourFault::cell_singular
                                             : NeighbourFault::none;
}

/// Brings a GraphRow of each graph to the host and, where pairs were counted, their number, at once; checks what can be
/// checked before pairs are compared.
Known known_of(const Tensor& r, const Tensor& finite, const Tensor& cell, const Tensor& pbc,
               const Segments& graphs, double cutoff, const Lattice& lattice, const Ranges& ranges) {
  const int64_t count = graphs.count();
  const bool counted = ranges.ends.defined();
  const Tensor of_all = at::cat({r, -r, finite.unsqueeze(1).to(at::kDouble)}, 1);
  const Tensor boxes = at::full({count, 7}, infinity, r.options())
                           .scatter_reduce(0, graphs.index.unsqueeze(1).expand({-1, 7}), of_all, "amin");
  const Tensor heights = counted ? lattice.heights : at::zeros({count, 3}, r.options());
  const Tensor pairs =
      counted ? zero_and(ranges.ends).slice(0, ranges.ends.size(0)) : at::zeros({1}, graphs.index.options());
  const Tensor host = at::cat({at::cat({boxes, cell.flatten(1), pbc.to(at::kDouble), heights}, 1).flatten(),
                               pairs.to(at::kDouble)})
                          .to(at::kCPU);
  const auto* rows = host.const_data_ptr<double>();

  Known known;
  std::vector<ExpectedEdges> expected;
  std::vector<NeighbourFault> faults;
  for (int64_t g = 0; g < count; ++g) {
    const GraphRow row{rows + g * GraphRow::size};
    NeighbourSearch search = row.search(cutoff);
    const std::array<double, 24> corners = row.corners();
    search.positions = corners.data();
    search.atoms = 8;
    expected.push_back(expected_edges(search, graphs.size(g)));
    known.periodic.push_back(search.periodic);
    faults.push_back(fault_of(row, reduced_basis(search.cell, search.periodic, known.bases.emplace_back())));
    known.fits = known.fits && row.fits(cutoff);
  }
  known.most_edges = limit_edges(expected, cutoff, r.device());
  for (int64_t g = 0; g < count; ++g) {
    require_no_fault(faults[g], g);
  }
  known.fits = known.fits && counted;
  known.pairs = static_cast<int64_t>(rows[count * GraphRow::size]);
  return known;
}

/// The reduced basis of each cell, worked out on the host. Where that makes no more than `most` pairs, atoms are not
/// sorted into cells: each looks at all atoms of its graph in all images, and how many `pairs` that makes is known;
/// else it becomes -1.
Lattice reduced_lattice(const Known& known, const Segments& graphs, double cutoff, int64_t most,
                        int64_t& pairs) {
  const double width = cutoff * margin;
  const auto height = [&](size_t g, int k) { return 1 / length(known.bases[g].duals[k]); };
  double all = 0;
  for (size_t g = 0; g < known.bases.size(); ++g) {
    const auto n = static_cast<double>(graphs.size(static_cast<int64_t>(g)));
    double images = 1;
    for (int k = 0; k < 3; ++k) {
      images *= known.periodic[g][k] ? 2 * std::ceil(width / height(g, k)) + 1 : 1;
    }
    all += n * n * images;
  }
  const bool whole = all <= static_cast<double>(most);
  const int64_t along = cells_along(graphs);
  LatticeLists lists;
  std::vector<double> directions;
  std::vector<int64_t> cells, given;
  for (size_t g = 0; g < known.bases.size(); ++g) {
    const LatticeBasis& basis = known.bases[g];
    Shift3 reach{}, images{};
    for (int k = 0; k < 3; ++k) {
      const bool periodic = known.periodic[g][k];
      const double divided =
          periodic && !whole ? std::clamp(std::floor(height(g, k) / width), 1.0, static_cast<double>(along))
                             : 1;
      cells.push_back(static_cast<int64_t>(divided));
      reach[k] = periodic ? static_cast<int64_t>(std::ceil(width * divided / height(g, k))) : whole ? 0 : 1;
      images[k] = periodic ? (reach[k] + cells.back() - 1) / cells.back() : 0;
      directions.insert(directions.end(), basis.duals[k].begin(), basis.duals[k].end());
      given.insert(given.end(), basis.given[k].begin(), basis.given[k].end());
    }
    const int64_t n = graphs.size(static_cast<int64_t>(g));
    lists.graph(n, lists.list(reach, images, basis.given), coarse_of(n, whole ? 1 : along));
  }
  pairs = whole ? static_cast<int64_t>(all) : -1;

  const at::Device device = graphs.device();
  Lattice lattice;
  lattice.directions = to_device(at::tensor(directions, at::kDouble).view({-1, 3, 3}), device);
  lattice.cells = to_device(at::tensor(cells, at::kLong).view({-1, 3}), device);
  lattice.given = to_device(at::tensor(given, at::kLong).view({-1, 3, 3}), device);
  LatticeLists::put(lattice, lists.tensors(device), lists.ranks(), lists.ranges());
  return lattice;
}

/// A search in cells: what there is to look at, and the edges among it.
class CellSearch {
 public:
  CellSearch(const Tensor& r, const Segments& graphs, double cutoff, const Tensor& cell, const Tensor& pbc,
             bool self, const DeviceSearchLimits& limits)
      : graphs_(graphs), cutoff_(cutoff), self_(self), shifted_(cell.defined()), at_once_(limits.at_once) {
    const Tensor finite = r.isfinite().all(1);
    r_ = at::constant_pad_nd(r, {0, 3 - r.size(1)}).masked_fill(finite.logical_not().unsqueeze(1), 0);
    const Tensor box = shifted_ ? cell : at::zeros({graphs.count(), 3, 3}, r.options());
    const Tensor periodic = shifted_ ? pbc : at::zeros({graphs.count(), 3}, r.options().dtype(at::kBool));
    rows_ = periodic_rows(box, periodic);
    if (!shifted_ || graphs.pairs() > limits.few_pairs) {
      lattice_ = given_lattice(box, periodic, graphs, cutoff);
      ranges_ = ranges_of(r_, periodic, graphs, cutoff, lattice_);
    }
    const Known known = known_of(r_, finite, box, periodic, graphs, cutoff, lattice_, ranges_);
    most_edges_ = known.most_edges;
    pairs_ = known.pairs;
    if (!known.fits) {
      lattice_ = reduced_lattice(known, graphs, cutoff, limits.images, pairs_);
      ranges_ = ranges_of(r_, periodic, graphs, cutoff, lattice_);
      pairs_ = pairs_ >= 0 ? pairs_ : zero_and(ranges_.ends).slice(0, lattice_.ranges).item<int64_t>();
    }
    require_memory_of_pairs(static_cast<double>(pairs_), static_cast<double>(pairs_) * bytes_a_pair, cutoff,
                            r.device());
  }

  Edges edges() const {
    std::vector<Tensor> near;
    for (int64_t begin = 0; begin == 0 || begin < pairs_; begin += at_once_) {
      const int64_t end = std::min(begin + at_once_, pairs_);
      near.push_back(are_edges(pairs_at(at::arange(begin, end, graphs_.index.options()))));
    }
    const Tensor found = at::cumsum(at::cat(near), 0, at::kLong);
    FoundEdges edges;
    edges.offsets_there =
        zero_and(found).index_select(0, zero_and(ranges_.ends).index_select(0, ranges_.begins));
    const Tensor degrees = edges.offsets_there.slice(0, 1) - edges.offsets_there.slice(0, 0, -1);
    edges.offsets = offsets_of(with_fault(degrees, ranges_.too_far, NeighbourFault::too_far_outside), graphs_,
                               most_edges_);
    const Pairs chosen =
        pairs_at(at::searchsorted(found, at::arange(1, edges.offsets.back() + 1, found.options())));
    // Numbers of pairs with images in the order of edges, and those of their reverses.
    const int64_t nodes = graphs_.rows(), ranks = lattice_.ranks;
    const Tensor graph = graphs_.index.index_select(0, chosen.i);
    const Tensor rank = lattice_.image_ranks.index_select(0, chosen.image);
    const Tensor order = ((chosen.i * nodes + chosen.j) * ranks + rank).argsort();
    const Tensor back = lattice_.image_count.index_select(0, graph) - 1 - rank;
    edges.reverse = ((chosen.j * nodes + chosen.i) * ranks + back).index_select(0, order).argsort();
    edges.centre = chosen.i;
    edges.neighbour = chosen.j.index_select(0, order);
    edges.shifts = shifted_ ? chosen.shift.index_select(0, order) : Tensor();
    edges.own_reverses = own_reverses(self_, cutoff_, graphs_);
    return edges_of(std::move(edges), graphs_);
  }

 private:
  struct Pairs {
    Tensor i, j, image, shift;  // shift (C, 3) int64, undefined without cells
  };

  Pairs pairs_at(const Tensor& numbers) const {
    const Tensor range = at::searchsorted(ranges_.ends, numbers, /*out_int32=*/false, /*right=*/true);
    Pairs pairs;
    pairs.i = ranges_.atom.index_select(0, range);
    pairs.j = ranges_.members.index_select(0, ranges_.to_member.index_select(0, range) + numbers);
    pairs.image = ranges_.image.index_select(0, range);
    if (shifted_) {
      pairs.shift = lattice_.image_shifts.index_select(0, pairs.image) +
                    (ranges_.away.index_select(0, pairs.i) - ranges_.away.index_select(0, pairs.j));
    }
    return pairs;
  }

  Tensor are_edges(const Pairs& pairs) const {
    Tensor itself = pairs.i == pairs.j, move;
    if (shifted_) {
      const Tensor rows = rows_.index_select(0, graphs_.index.index_select(0, pairs.i));
      const Tensor moves = pairs.shift.to(at::kDouble).unsqueeze(2) * rows;
      move = moves.select(1, 0) + moves.select(1, 1) + moves.select(1, 2);
      itself = itself.logical_and((pairs.shift == 0).all(1));
    }
    const Tensor near = nearer(r_, pairs.i, pairs.j, move, cutoff_);
    return self_ ? near : near.logical_and(itself.logical_not());
  }

  const Segments& graphs_;
  double cutoff_;
  bool self_, shifted_;
  int64_t at_once_;
  Tensor r_, rows_;
  Lattice lattice_;
  Ranges ranges_;
  double most_edges_ = 0;
  int64_t pairs_ = 0;
};

}  // namespace

Edges device_neighbours(const Tensor& positions, const Segments& graphs, double cutoff, const Tensor& cell,
                        const Tensor& pbc, bool self, const DeviceSearchLimits& limits) {
  const at::Device device = positions.device();
  const Segments here = graphs.device() == device ? graphs : graphs.to(device);
  const Tensor r = positions.detach().to(at::kDouble);
  if (!cell.defined() && here.pairs() <= limits.pairs) {
    return among_all_pairs(r, here, cutoff, self);
  }
  const Tensor box = cell.defined() ? to_device(cell.detach().to(at::kDouble), device) : cell,
               periodic = pbc.defined() ? to_device(pbc, device) : pbc;
  return CellSearch(r, here, cutoff, box, periodic, self, limits).edges();
}

}  // namespace weyl
