#include "weyl/kernels/edges/neighbours.h"

#include <algorithm>
#include <cmath>

#include "weyl/kernels/edges/lattice_basis.h"

namespace weyl::kernels {
namespace {

using Vector = Vector3;
using Shift = Shift3;

constexpr int64_t few_atoms = 160;    // of an open system: up to here all are compared with all
constexpr double margin = 1 + 1e-9;   // for what rounding may do to a distance from a bin's wall
constexpr double far = 1 << 30;       // cells
constexpr double most_edges = 2.1e9;  // to be expected

/// Along one axis of the basis: `bins` bins of at least the cutoff's width where there is room for them, and
/// how many of them to each side the cutoff reaches.
struct Axis {
  bool periodic = false;
  int64_t bins = 1, reach = 0;
  double low = 0, extent = 1;
};

struct Candidate {
  int64_t centre, neighbour;
  Shift shift;
};

class Search {
 public:
  Search(const NeighbourSearch& search, const LatticeBasis& basis)
      : s_(search),
        basis_(basis),
        wrapped_(3 * search.atoms),
        cells_(search.atoms),
        squared_(search.cutoff * search.cutoff) {}

  NeighbourFault run(NeighbourList& list) {
    if (const NeighbourFault fault = lay_out(); fault != NeighbourFault::none) {
      return fault;
    }
    sort_into_bins();
    for (int64_t i = 0; i < s_.atoms; ++i) {
      around(i);
    }
    order(list);
    return NeighbourFault::none;
  }

 private:
  NeighbourFault lay_out() {
    std::vector<double> along(3 * s_.atoms);
    for (int64_t i = 0; i < s_.atoms; ++i) {
      const Vector r{s_.positions[3 * i], s_.positions[3 * i + 1], s_.positions[3 * i + 2]};
      for (int k = 0; k < 3; ++k) {
        along[3 * i + k] = dot_of(r, basis_.duals[k]);
      }
    }
    const double width = s_.cutoff * margin;
    double edges = 0.5 * static_cast<double>(s_.atoms) * static_cast<double>(s_.atoms);  // if spread evenly
    for (int k = 0; k < 3; ++k) {
      Axis& axis = axes_[k];
      axis.periodic = s_.periodic[k];
      double height = 0;
      if (axis.periodic) {
        height = 1 / length_of(basis_.duals[k]);
        edges *= 2 * s_.cutoff / height;
      } else {
        axis.low = along[k];
        double high = along[k];
        for (int64_t i = 0; i < s_.atoms; ++i) {
          axis.low = std::min(axis.low, along[3 * i + k]);
          high = std::max(high, along[3 * i + k]);
        }
        height = axis.extent = std::max((high - axis.low) * margin, 1e-300);
        if (!std::isfinite(height)) {
          return NeighbourFault::too_far_outside;
        }
        edges *= std::min(2 * s_.cutoff / height, 1.0);
      }
      axis.bins = static_cast<int64_t>(std::clamp(std::floor(height / width), 1.0, 1e6));
      heights_[k] = height;
    }
    if (!(edges < most_edges)) {
      return NeighbourFault::too_many;
    }
    const auto most_bins = static_cast<double>(std::max<int64_t>(4 * s_.atoms, 64));
    while (static_cast<double>(axes_[0].bins) * static_cast<double>(axes_[1].bins) *
               static_cast<double>(axes_[2].bins) >
           most_bins) {
      Axis& most = *std::max_element(axes_.begin(), axes_.end(),
                                     [](const Axis& a, const Axis& b) { return a.bins < b.bins; });
      most.bins = (most.bins + 1) / 2;
    }
    for (int k = 0; k < 3; ++k) {
      const double reach = std::ceil(width * static_cast<double>(axes_[k].bins) / heights_[k]);
      const auto most = static_cast<double>(axes_[k].periodic ? 1 << 30 : axes_[k].bins - 1);
      axes_[k].reach = static_cast<int64_t>(std::min(reach, most));
    }
    bin_of_.resize(s_.atoms);
    for (int64_t i = 0; i < s_.atoms; ++i) {
      int64_t bin = 0;
      Vector r{s_.positions[3 * i], s_.positions[3 * i + 1], s_.positions[3 * i + 2]};
      for (int k = 0; k < 3; ++k) {
        const Axis& axis = axes_[k];
        double part = (along[3 * i + k] - axis.low) / axis.extent;
        if (axis.periodic) {
          const double cell = std::floor(part);
          if (!(std::abs(cell) < far)) {
            return NeighbourFault::too_far_outside;
          }
          part -= cell;
          cells_[i][k] = static_cast<int64_t>(cell);
          for (int c = 0; c < 3; ++c) {
            r[c] -= cell * basis_.rows[k][c];
          }
        }
        const auto n = static_cast<double>(axis.bins);
        bin = bin * axis.bins + static_cast<int64_t>(std::clamp(std::floor(part * n), 0.0, n - 1));
      }
      bin_of_[i] = bin;
      for (int c = 0; c < 3; ++c) {
        wrapped_[3 * i + c] = r[c];
      }
    }
    return NeighbourFault::none;
  }

  void sort_into_bins() {
    starts_.assign(axes_[0].bins * axes_[1].bins * axes_[2].bins + 1, 0);
    for (const int64_t bin : bin_of_) {
      ++starts_[bin + 1];
    }
    for (size_t b = 1; b < starts_.size(); ++b) {
      starts_[b] += starts_[b - 1];
    }
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    members_.resize(s_.atoms);
    sorted_.resize(3 * s_.atoms);
    for (int64_t i = 0; i < s_.atoms; ++i) {
      const int64_t at = next[bin_of_[i]]++;
      members_[at] = i;
      std::copy_n(&wrapped_[3 * i], 3, &sorted_[3 * at]);
    }
  }

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

  void around(int64_t i) {
    const int64_t z = bin_of_[i] % axes_[2].bins, y = bin_of_[i] / axes_[2].bins % axes_[1].bins,
                  x = bin_of_[i] / axes_[2].bins / axes_[1].bins;
    std::array<int64_t, 3> bin{};
    Shift image{};
    for (int64_t dx = -axes_[0].reach; dx <= axes_[0].reach; ++dx) {
      if (!moved(axes_[0], x, dx, bin[0], image[0])) {
        continue;
      }
      for (int64_t dy = -axes_[1].reach; dy <= axes_[1].reach; ++dy) {
        if (!moved(axes_[1], y, dy, bin[1], image[1])) {
          continue;
        }
        for (int64_t dz = -axes_[2].reach; dz <= axes_[2].reach; ++dz) {
          if (moved(axes_[2], z, dz, bin[2], image[2])) {
            in_bin(i, (bin[0] * axes_[1].bins + bin[1]) * axes_[2].bins + bin[2], image);
          }
        }
      }
    }
  }

  void in_bin(int64_t i, int64_t bin, const Shift& image) {
    const int64_t begin = starts_[bin], count = starts_[bin + 1] - begin;
    if (count == 0) {
      return;
    }
    Vector from{wrapped_[3 * i], wrapped_[3 * i + 1], wrapped_[3 * i + 2]};
    Shift cells = cells_[i];
    for (int k = 0; k < 3; ++k) {
      cells[k] += image[k];
      for (int c = 0; c < 3; ++c) {
        from[c] -= static_cast<double>(image[k]) * basis_.rows[k][c];
      }
    }
    const double limit = squared_ * margin;
    const double* r = &sorted_[3 * begin];
    int64_t near = 0;
    if (static_cast<int64_t>(near_.size()) < count) {
      near_.resize(count);
    }
    for (int64_t m = 0; m < count; ++m, r += 3) {
      const double dx = r[0] - from[0], dy = r[1] - from[1], dz = r[2] - from[2];
      near_[near] = begin + m;
      near += dx * dx + dy * dy + dz * dz <= limit ? 1 : 0;
    }
    if (near == 0) {
      return;
    }
    // Most atoms stand in the cell itself, and then all of a bin have one shift.
    const Shift shift = shift_of(cells);
    const Vector move = move_of(shift);
    for (int64_t m = 0; m < near; ++m) {
      const int64_t j = members_[near_[m]];
      const Shift& away = cells_[j];
      if ((away[0] | away[1] | away[2]) == 0) {
        keep(i, j, shift, move);
      } else {
        const Shift own = shift_of({cells[0] - away[0], cells[1] - away[1], cells[2] - away[2]});
        keep(i, j, own, move_of(own));
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
      for (int c = 0; c < 3 && axes_[k].periodic; ++c) {
        move[c] += static_cast<double>(shift[k]) * s_.cell[3 * k + c];
      }
    }
    return move;
  }

  /// Decides by the definition, in which an edge and its reverse differ by signs alone.
  void keep(int64_t i, int64_t j, const Shift& shift, const Vector& move) {
    if (i == j && shift == Shift{} && !s_.self) {
      return;
    }
    double squares = 0;
    for (int c = 0; c < 3; ++c) {
      const double d = (s_.positions[3 * j + c] - s_.positions[3 * i + c]) + move[c];
      squares += d * d;
    }
    if (squares < squared_) {
      found_.push_back({i, j, shift});
    }
  }

  /// Found are edges in the order of their centres. Their reverses, which are the same edges, fall into the
  /// lists of the neighbours in that order: sorted in linear time, but for the images of one neighbour.
  void order(NeighbourList& list) const {
    list.offsets.assign(s_.atoms + 1, 0);
    for (const Candidate& e : found_) {
      ++list.offsets[e.neighbour + 1];
    }
    for (int64_t i = 0; i < s_.atoms; ++i) {
      list.offsets[i + 1] += list.offsets[i];
    }
    std::vector<int64_t> next(list.offsets.begin(), list.offsets.end() - 1);
    list.neighbour.resize(found_.size());
    list.shift.resize(found_.size());
    for (const Candidate& e : found_) {
      const Shift shift{-e.shift[0], -e.shift[1], -e.shift[2]};
      int64_t at = next[e.neighbour]++;
      for (;
           at > list.offsets[e.neighbour] && list.neighbour[at - 1] == e.centre && shift < list.shift[at - 1];
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
  std::array<Axis, 3> axes_;
  Vector heights_{};
  std::vector<double> wrapped_, sorted_;  // positions in the cell, in the order of atoms and of bins
  std::vector<Shift> cells_;              // the cell of the reduced lattice in which an atom stands
  std::vector<int64_t> bin_of_, starts_, members_, near_;
  std::vector<Candidate> found_;
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

NeighbourFault neighbours(const NeighbourSearch& s, NeighbourList& list) {
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
  return Search(s, basis).run(list);
}

}  // namespace weyl::kernels
