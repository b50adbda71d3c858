#include "weyl/kernels/edges/neighbours.h"

#include <algorithm>
#include <cmath>

#include "weyl/kernels/edges/atom_bins.h"
#include "weyl/kernels/edges/lattice_basis.h"

namespace weyl::kernels {
namespace {

using Vector = Vector3;
using Shift = Shift3;

constexpr int64_t few_atoms = 160;            // of an open system: up to here all are compared with all
constexpr double distance_margin = 1 + 1e-9;  // for what rounding may do to a distance

struct Candidate {
  int64_t centre, neighbour;
  Shift shift;
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
      : s_(search), basis_(basis), squared_(search.cutoff * search.cutoff) {}

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
    Shift image{};
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

  void in_slot(int64_t i, int64_t slot, const Shift& image, Part& part) {
    if (slot < 0) {
      return;
    }
    const int64_t begin = bins_.starts[slot], count = bins_.starts[slot + 1] - begin;
    if (count == 0) {
      return;
    }
    Vector from{bins_.wrapped[3 * i], bins_.wrapped[3 * i + 1], bins_.wrapped[3 * i + 2]};
    Shift cells = bins_.cells[i];
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
    const Shift shift = shift_of(cells);
    const Vector move = move_of(shift);
    for (int64_t m = 0; m < near; ++m) {
      const int64_t j = bins_.members[which[m]];
      const Shift& away = bins_.cells[j];
      if ((away[0] | away[1] | away[2]) == 0) {
        keep(i, j, shift, move, part);
      } else {
        const Shift own = shift_of({cells[0] - away[0], cells[1] - away[1], cells[2] - away[2]});
        keep(i, j, own, move_of(own), part);
      }
    }
  }

  /// The shift in the given basis, of one in the reduced basis.
  Shift shift_of(const Shift& reduced) const {
    Shift shift{};
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < 3; ++c) {
        shift[c] += reduced[k] * basis_.given[k][c];
      }
    }
    return shift;
  }
  Vector move_of(const Shift& shift) const {
    Vector move{};
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < 3 && s_.periodic[k]; ++c) {
        move[c] += static_cast<double>(shift[k]) * s_.cell[3 * k + c];
      }
    }
    return move;
  }

  /// Decides by the definition, in which an edge and its reverse differ by signs alone.
  void keep(int64_t i, int64_t j, const Shift& shift, const Vector& move, Part& part) const {
    if (i == j && shift == Shift{} && !s_.self) {
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
      const Shift shift{-e.shift[0], -e.shift[1], -e.shift[2]};
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
  const double squared = s.cutoff * s.cutoff;
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
  list.shift.assign(list.neighbour.size(), Shift{});
}

}  // namespace

double expected_edges(const NeighbourSearch& s) {
  LatticeBasis basis;
  if (s.atoms == 0 || reduced_basis(s.cell, s.periodic, basis) != LatticeFault::none) {
    return 0;
  }
  const auto atoms = static_cast<double>(s.atoms);
  const std::vector<double> along = along_axes(s, basis);
  // A ball of the cutoff's radius is pi / 6 of the cube around it. The rows of open axes are unit vectors, normal to
  // the others: the determinant is the volume, area or length of what is periodic.
  const auto& r = basis.rows;
  double volume = std::abs(r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                           r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                           r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]));
  double share = M_PI / 6;
  for (int k = 0; k < 3; ++k) {
    if (s.periodic[k]) {
      share *= 2 * s.cutoff;
      continue;
    }
    double low = along[k], high = along[k];
    for (int64_t i = 0; i < s.atoms; ++i) {
      low = std::min(low, along[3 * i + k]);
      high = std::max(high, along[3 * i + k]);
    }
    share *= high - low > 2 * s.cutoff ? 2 * s.cutoff / (high - low) : 1;
  }
  const double edges = atoms * atoms * share / volume;
  return std::isfinite(edges) || edges > 0 ? edges : 0;
}

NeighbourFault neighbours(const NeighbourSearch& s, NeighbourList& list, int64_t workers,
                          const ShareOut& share_out) {
  list = {};
  list.offsets.assign(s.atoms + 1, 0);
  if (!std::all_of(s.positions, s.positions + 3 * s.atoms, [](double x) { return std::isfinite(x); })) {
    return NeighbourFault::positions_not_finite;
  }
  const bool open = !s.periodic[0] && !s.periodic[1] && !s.periodic[2];
  LatticeBasis basis;
  switch (reduced_basis(s.cell, s.periodic, basis)) {
    case LatticeFault::not_finite:
      return NeighbourFault::cell_not_finite;
    case LatticeFault::singular:
      return NeighbourFault::cell_singular;
    case LatticeFault::none:
      break;
  }
  if (s.atoms == 0) {
    return NeighbourFault::none;
  }
  if (open && s.atoms <= few_atoms) {
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

}  // namespace weyl::kernels
