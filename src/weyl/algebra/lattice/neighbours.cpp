#include "weyl/algebra/lattice/neighbours.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace weyl {
namespace {

constexpr double wall_margin = 1 + 1e-9;     // for what rounding may do to a distance from a bin's wall
constexpr double most_cells_away = 1 << 30;  // cells
constexpr double most_along = 1e6;    // bins of an axis: rounding stays below the margin, and keys below 2^63
constexpr int64_t most_an_atom = 16;  // bins an atom; where there are more, empty ones are not kept
constexpr double distance_margin = 1 + 1e-9;  // for what rounding may do to a distance

/// Moves atoms together along an axis that is not periodic: of a gap wider than twice `width` nothing is left but that,
/// so that an atom far away costs no bins, nor digits of the places of the others. Atoms nearer than `width` keep their
/// distance along the axis, those farther stay farther.
void close_gaps(std::vector<double>& along, int axis, double width) {
  const size_t n = along.size() / 3;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto at = [&](size_t i) -> double& { return along[3 * i + static_cast<size_t>(axis)]; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return at(a) < at(b); });
  double before = at(order[0]), first = before, placed = 0, last = 0;
  for (const size_t i : order) {
    double& x = at(i);
    if (x - before > 2 * width) {
      placed = last + 2 * width;
      first = x;
    }
    before = x;
    x = last = placed + (x - first);
  }
}

/// Of the atoms of an open or periodic system: coordinates along the axes of the basis (n, 3), in lengths along open
/// ones and in cells along periodic ones.
std::vector<double> along_axes(const NeighbourSearch& s, const LatticeBasis& basis) {
  std::vector<double> along(3 * s.atoms);
  for (int64_t i = 0; i < s.atoms; ++i) {
    const Vector3 r{s.positions[3 * i], s.positions[3 * i + 1], s.positions[3 * i + 2]};
    for (int k = 0; k < 3; ++k) {
      along[3 * i + k] = dot(r, basis.duals[k]);
    }
  }
  return along;
}

/// The atoms of a graph, sorted into bins that divide space along the axes of a reduced basis of the lattice. Two atoms
/// nearer than the radius are at most `reach` bins from one another along every axis.
struct AtomBins {
  struct Axis {
    bool periodic = false;
    int64_t bins = 1, reach = 0;
    double low = 0, extent = 1;  // of the places along the axis; of a periodic one 0 and 1, a cell
  };

  /// Finds the bins and puts the atoms into them. Positions must be finite and at least one. `too_far_outside`, or
  /// `none`.
  NeighbourFault sort(const NeighbourSearch& search, const LatticeBasis& basis);

  /// Where the atoms of a bin stand: `starts[slot]` .. `starts[slot + 1]` of `members`; -1: nobody is in it.
  int64_t slot(int64_t bin) const {
    if (!sparse) {
      return bin;
    }
    const auto found = slots.find(bin);
    return found == slots.end() ? -1 : found->second;
  }

  std::array<Axis, 3> axes;
  std::vector<double> wrapped, sorted;   // positions in the cell (n, 3), in the order of atoms and of bins
  std::vector<Shift3> cells;             // the cell of the reduced lattice in which an atom stands
  std::vector<int64_t> bin_of;           // of each atom: (x * bins of y + y) * bins of z + z
  std::vector<int64_t> starts, members;  // the atoms of each slot, in their order
  bool sparse = false;                   // slots are those bins that hold atoms, else all of them
  std::unordered_map<int64_t, int64_t> slots;  // of bins, when sparse

 private:
  void divide(const NeighbourSearch& search, const LatticeBasis& basis, const std::vector<double>& along);
  double count() const;  // of bins
};

double AtomBins::count() const {
  return static_cast<double>(axes[0].bins) * static_cast<double>(axes[1].bins) *
         static_cast<double>(axes[2].bins);
}

/// Bins at least as wide as the radius where there is room for them.
void AtomBins::divide(const NeighbourSearch& s, const LatticeBasis& basis, const std::vector<double>& along) {
  const double width = s.radius * wall_margin;
  for (int k = 0; k < 3; ++k) {
    Axis& axis = axes[k];
    axis = {};
    axis.periodic = s.periodic[k];
    double height = 0;
    if (axis.periodic) {
      height = 1 / length(basis.duals[k]);
    } else {
      axis.low = along[k];
      double high = along[k];
      for (int64_t i = 0; i < s.atoms; ++i) {
        axis.low = std::min(axis.low, along[3 * i + k]);
        high = std::max(high, along[3 * i + k]);
      }
      height = axis.extent = std::max((high - axis.low) * wall_margin, 1e-300);
    }
    axis.bins = static_cast<int64_t>(std::clamp(std::floor(height / width), 1.0, most_along));
    const double reach = std::ceil(width * static_cast<double>(axis.bins) / height);
    const auto most = static_cast<double>(axis.periodic ? 1 << 30 : axis.bins - 1);
    axis.reach = static_cast<int64_t>(std::min(reach, most));
  }
}

NeighbourFault AtomBins::sort(const NeighbourSearch& s, const LatticeBasis& basis) {
  std::vector<double> along = along_axes(s, basis);
  if (!std::all_of(along.begin(), along.end(), [](double x) { return std::isfinite(x); })) {
    return NeighbourFault::too_far_outside;
  }
  divide(s, basis, along);
  const auto most = static_cast<double>(most_an_atom * std::max<int64_t>(s.atoms, 16));
  const bool capped = std::any_of(axes.begin(), axes.end(), [](const Axis& a) {
    return !a.periodic && static_cast<double>(a.bins) >= most_along;
  });
  if (count() > most || capped) {
    for (int k = 0; k < 3; ++k) {
      if (!s.periodic[k]) {
        close_gaps(along, k, s.radius * wall_margin);
      }
    }
    divide(s, basis, along);
  }
  sparse = count() > most;
  slots.clear();

  wrapped.resize(3 * s.atoms);
  cells.assign(s.atoms, Shift3{});
  bin_of.resize(s.atoms);
  for (int64_t i = 0; i < s.atoms; ++i) {
    int64_t bin = 0;
    Vector3 r{s.positions[3 * i], s.positions[3 * i + 1], s.positions[3 * i + 2]};
    for (int k = 0; k < 3; ++k) {
      const Axis& axis = axes[k];
      double part = (along[3 * i + k] - axis.low) / axis.extent;
      if (axis.periodic) {
        const double cell = std::floor(part);
        if (!(std::abs(cell) < most_cells_away)) {
          return NeighbourFault::too_far_outside;
        }
        part -= cell;
        cells[i][k] = static_cast<int64_t>(cell);
        for (int c = 0; c < 3; ++c) {
          r[c] -= cell * basis.rows[k][c];
        }
      }
      const auto n = static_cast<double>(axis.bins);
      bin = bin * axis.bins + static_cast<int64_t>(std::clamp(std::floor(part * n), 0.0, n - 1));
    }
    bin_of[i] = bin;
    if (sparse) {
      slots.try_emplace(bin, static_cast<int64_t>(slots.size()));
    }
    for (int c = 0; c < 3; ++c) {
      wrapped[3 * i + c] = r[c];
    }
  }

  const int64_t kept =
      sparse ? static_cast<int64_t>(slots.size()) : axes[0].bins * axes[1].bins * axes[2].bins;
  starts.assign(kept + 1, 0);
  for (const int64_t bin : bin_of) {
    ++starts[slot(bin) + 1];
  }
  for (size_t b = 1; b < starts.size(); ++b) {
    starts[b] += starts[b - 1];
  }
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  members.resize(s.atoms);
  sorted.resize(3 * s.atoms);
  for (int64_t i = 0; i < s.atoms; ++i) {
    const int64_t at = next[slot(bin_of[i])]++;
    members[at] = i;
    std::copy_n(&wrapped[3 * i], 3, &sorted[3 * at]);
  }
  return NeighbourFault::none;
}

struct Candidate {
  int64_t centre, neighbour;
  Shift3 shift;
};

/// What one worker finds around its centres, which follow one another.
struct Part {
  std::vector<Candidate> found;
  std::vector<int64_t> near;
  std::vector<int64_t> next;  // where its next edge of each neighbour goes
  bool stopped = false;
};

class Search {
 public:
  Search(const NeighbourSearch& search, const LatticeBasis& basis)
      : s_(search), basis_(basis), squared_(search.radius * search.radius) {}

  NeighbourFault run(NeighbourList& list, int64_t workers, const ShareOut& share_out) {
    if (const NeighbourFault fault = bins_.sort(s_, basis_); fault != NeighbourFault::none) {
      return fault;
    }
    parts_.resize(static_cast<size_t>(workers));
    share_out(s_.atoms, workers, [&](int64_t w, int64_t first, int64_t last) {
      Part& part = parts_[static_cast<size_t>(w)];
      for (int64_t i = first; i < last && !part.stopped; ++i) {
        around(i, part);
        part.stopped = static_cast<double>(part.found.size()) > s_.most_edges;
      }
    });
    double found = 0;
    for (const Part& part : parts_) {
      found += static_cast<double>(part.found.size());
    }
    if (found > s_.most_edges) {
      return NeighbourFault::too_many;
    }
    order(list, share_out);
    return NeighbourFault::none;
  }

  NeighbourFault count(std::span<const int64_t> centres, std::vector<int64_t>& counts) {
    if (const NeighbourFault fault = bins_.sort(s_, basis_); fault != NeighbourFault::none) {
      return fault;
    }
    Part part;
    for (const int64_t i : centres) {
      part.found.clear();
      around(i, part);
      counts.push_back(static_cast<int64_t>(part.found.size()));
    }
    return NeighbourFault::none;
  }

 private:
  using Axis = AtomBins::Axis;

  /// Bin and image of an axis, `step` bins from `bin`; false outside an axis that is not periodic.
  static bool moved(const Axis& axis, int64_t bin, int64_t step, int64_t& to, int64_t& image) {
    to = bin + step;
    image = 0;
    if (to >= 0 && to < axis.bins) {
      return true;
    }
    image = (to >= 0 ? to : to - axis.bins + 1) / axis.bins;
    to -= image * axis.bins;
    return axis.periodic;
  }

  void around(int64_t i, Part& part) {
    const auto& axes = bins_.axes;
    const int64_t own = bins_.bin_of[i], z = own % axes[2].bins, y = own / axes[2].bins % axes[1].bins,
                  x = own / axes[2].bins / axes[1].bins;
    std::array<int64_t, 3> bin{};
    Shift3 image{};
    for (int64_t dx = -axes[0].reach; dx <= axes[0].reach; ++dx) {
      if (!moved(axes[0], x, dx, bin[0], image[0])) {
        continue;
      }
      for (int64_t dy = -axes[1].reach; dy <= axes[1].reach; ++dy) {
        if (!moved(axes[1], y, dy, bin[1], image[1])) {
          continue;
        }
        for (int64_t dz = -axes[2].reach; dz <= axes[2].reach; ++dz) {
          if (moved(axes[2], z, dz, bin[2], image[2])) {
            in_slot(i, bins_.slot((bin[0] * axes[1].bins + bin[1]) * axes[2].bins + bin[2]), image, part);
          }
        }
      }
    }
  }

  void in_slot(int64_t i, int64_t slot, const Shift3& image, Part& part) {
    if (slot < 0) {
      return;
    }
    const int64_t begin = bins_.starts[slot], count = bins_.starts[slot + 1] - begin;
    if (count == 0) {
      return;
    }
    Vector3 from{bins_.wrapped[3 * i], bins_.wrapped[3 * i + 1], bins_.wrapped[3 * i + 2]};
    Shift3 cells = bins_.cells[i];
    for (int k = 0; k < 3; ++k) {
      cells[k] += image[k];
      for (int c = 0; c < 3; ++c) {
        from[c] -= static_cast<double>(image[k]) * basis_.rows[k][c];
      }
    }
    const double limit = squared_ * distance_margin;
    const double* r = &bins_.sorted[3 * begin];
    int64_t near = 0;
    if (static_cast<int64_t>(part.near.size()) < count) {
      part.near.resize(count);
    }
    int64_t* which = part.near.data();
    for (int64_t m = 0; m < count; ++m, r += 3) {
      const double dx = r[0] - from[0], dy = r[1] - from[1], dz = r[2] - from[2];
      which[near] = begin + m;
      near += dx * dx + dy * dy + dz * dz <= limit ? 1 : 0;
    }
    if (near == 0) {
      return;
    }
    // Most atoms stand in the cell itself, and then all of a bin have one shift.
    const Shift3 shift = shift_of(cells);
    const Vector3 move = move_of(shift);
    for (int64_t m = 0; m < near; ++m) {
      const int64_t j = bins_.members[which[m]];
      const Shift3& away = bins_.cells[j];
      if ((away[0] | away[1] | away[2]) == 0) {
        keep(i, j, shift, move, part);
      } else {
        const Shift3 own = shift_of({cells[0] - away[0], cells[1] - away[1], cells[2] - away[2]});
        keep(i, j, own, move_of(own), part);
      }
    }
  }

  /// The shift in the given basis, of one in the reduced basis.
  Shift3 shift_of(const Shift3& reduced) const {
    Shift3 shift{};
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < 3; ++c) {
        shift[c] += reduced[k] * basis_.given[k][c];
      }
    }
    return shift;
  }
  Vector3 move_of(const Shift3& shift) const {
    Vector3 move{};
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < 3 && s_.periodic[k]; ++c) {
        move[c] += static_cast<double>(shift[k]) * s_.cell[3 * k + c];
      }
    }
    return move;
  }

  /// Decides by the definition, in which an edge and its reverse differ by signs alone.
  void keep(int64_t i, int64_t j, const Shift3& shift, const Vector3& move, Part& part) const {
    if (i == j && shift == Shift3{} && !s_.self) {
      return;
    }
    double squares = 0;
    for (int c = 0; c < 3; ++c) {
      const double d = (s_.positions[3 * j + c] - s_.positions[3 * i + c]) + move[c];
      squares += d * d;
    }
    if (squares < squared_) {
      part.found.push_back({i, j, shift});
    }
  }

  /// Found are edges in the order of their centres. Their reverses, which are the same edges, fall into the
  /// lists of the neighbours in that order: sorted in linear time, but for the images of one neighbour. Each worker
  /// has a place of its own in every list, behind those of the centres before its own.
  void order(NeighbourList& list, const ShareOut& share_out) {
    const auto workers = static_cast<int64_t>(parts_.size());
    share_out(workers, workers, [&](int64_t, int64_t first, int64_t last) {
      for (int64_t w = first; w < last; ++w) {
        Part& part = parts_[static_cast<size_t>(w)];
        part.next.assign(s_.atoms, 0);
        for (const Candidate& e : part.found) {
          ++part.next[e.neighbour];
        }
      }
    });
    list.offsets.assign(s_.atoms + 1, 0);
    for (int64_t i = 0; i < s_.atoms; ++i) {
      int64_t at = list.offsets[i];
      for (Part& part : parts_) {
        const int64_t count = part.next[i];
        part.next[i] = at;
        at += count;
      }
      list.offsets[i + 1] = at;
    }
    list.neighbour.resize(list.offsets.back());
    list.shift.resize(list.offsets.back());
    share_out(workers, workers, [&](int64_t, int64_t first, int64_t last) {
      for (int64_t w = first; w < last; ++w) {
        Part& part = parts_[static_cast<size_t>(w)];
        const std::vector<int64_t> begins = w > 0 ? part.next : std::vector<int64_t>{};
        place(part, w > 0 ? begins.data() : list.offsets.data(), list);
        part = {};
      }
    });
  }

  /// `begins`: where the places of this part begin in the list of each neighbour. No other part's are read.
  static void place(Part& part, const int64_t* begins, NeighbourList& list) {
    for (const Candidate& e : part.found) {
      const Shift3 shift{-e.shift[0], -e.shift[1], -e.shift[2]};
      int64_t at = part.next[e.neighbour]++;
      for (; at > begins[e.neighbour] && list.neighbour[at - 1] == e.centre && shift < list.shift[at - 1];
           --at) {
        list.shift[at] = list.shift[at - 1];
        list.neighbour[at] = list.neighbour[at - 1];
      }
      list.neighbour[at] = e.centre;
      list.shift[at] = shift;
    }
  }

  const NeighbourSearch& s_;
  const LatticeBasis& basis_;
  AtomBins bins_;
  std::vector<Part> parts_;
  double squared_;
};

void all_with_all(const NeighbourSearch& s, NeighbourList& list) {
  list.offsets.assign(1, 0);
  const double squared = s.radius * s.radius;
  for (int64_t i = 0; i < s.atoms; ++i) {
    for (int64_t j = 0; j < s.atoms; ++j) {
      double squares = 0;
      for (int c = 0; c < 3; ++c) {
        const double d = s.positions[3 * j + c] - s.positions[3 * i + c];
        squares += d * d;
      }
      if (squares < squared && (i != j || s.self)) {
        list.neighbour.push_back(j);
      }
    }
    list.offsets.push_back(static_cast<int64_t>(list.neighbour.size()));
  }
  list.shift.assign(list.neighbour.size(), Shift3{});
}

/// What there is to be refused before atoms are compared; the basis to search in.
NeighbourFault fault_before(const NeighbourSearch& s, LatticeBasis& basis) {
  if (!std::all_of(s.positions, s.positions + 3 * s.atoms, [](double x) { return std::isfinite(x); })) {
    return NeighbourFault::positions_not_finite;
  }
  switch (reduced_basis(s.cell, s.periodic, basis)) {
    case LatticeFault::not_finite:
      return NeighbourFault::cell_not_finite;
    case LatticeFault::singular:
      return NeighbourFault::cell_singular;
    case LatticeFault::none:
      break;
  }
  return NeighbourFault::none;
}

}  // namespace

double expected_edges(const NeighbourSearch& s) {
  LatticeBasis basis;
  if (s.atoms == 0 || reduced_basis(s.cell, s.periodic, basis) != LatticeFault::none) {
    return 0;
  }
  const auto atoms = static_cast<double>(s.atoms);
  const std::vector<double> along = along_axes(s, basis);
  // A ball of the radius is pi / 6 of the cube around it. The rows of open axes are unit vectors, normal to the others:
  // the volume is the volume, area or length of what is periodic.
  double share = M_PI / 6;
  for (int k = 0; k < 3; ++k) {
    if (s.periodic[k]) {
      share *= 2 * s.radius;
      continue;
    }
    double low = along[k], high = along[k];
    for (int64_t i = 0; i < s.atoms; ++i) {
      low = std::min(low, along[3 * i + k]);
      high = std::max(high, along[3 * i + k]);
    }
    share *= high - low > 2 * s.radius ? 2 * s.radius / (high - low) : 1;
  }
  const double edges = atoms * atoms * share / std::abs(volume_of(basis.rows));
  return std::isfinite(edges) || edges > 0 ? edges : 0;
}

NeighbourFault find_neighbours(const NeighbourSearch& s, NeighbourList& list, int64_t workers,
                               const ShareOut& share_out) {
  list = {};
  list.offsets.assign(s.atoms + 1, 0);
  LatticeBasis basis;
  if (const NeighbourFault fault = fault_before(s, basis); fault != NeighbourFault::none || s.atoms == 0) {
    return fault;
  }
  if (!s.periodic[0] && !s.periodic[1] && !s.periodic[2] && s.atoms <= few_atoms) {
    all_with_all(s, list);
    return NeighbourFault::none;
  }
  if (!(expected_edges(s) <= s.most_edges)) {
    return NeighbourFault::too_many;
  }
  const auto alone = [](int64_t total, int64_t, const auto& work) { work(0, 0, total); };
  return share_out && workers > 1 ? Search(s, basis).run(list, workers, share_out)
                                  : Search(s, basis).run(list, 1, alone);
}

NeighbourFault count_neighbours(const NeighbourSearch& s, std::span<const int64_t> centres,
                                std::vector<int64_t>& counts) {
  counts.clear();
  LatticeBasis basis;
  if (const NeighbourFault fault = fault_before(s, basis); fault != NeighbourFault::none || s.atoms == 0) {
    return fault;
  }
  if (!(expected_edges(s) <= s.most_edges)) {
    return NeighbourFault::too_many;
  }
  return Search(s, basis).count(centres, counts);
}

}  // namespace weyl
