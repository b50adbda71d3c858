#include "weyl/kernels/edges/atom_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weyl::kernels {
namespace {

constexpr double wall_margin = 1 + 1e-9;     // for what rounding may do to a distance from a bin's wall
constexpr double most_cells_away = 1 << 30;  // cells
constexpr double most_along = 1e6;    // bins of an axis: rounding stays below the margin, and keys below 2^63
constexpr int64_t most_an_atom = 16;  // bins an atom; where there are more, empty ones are not kept

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

}  // namespace

std::vector<double> along_axes(const NeighbourSearch& s, const LatticeBasis& basis) {
  std::vector<double> along(3 * s.atoms);
  for (int64_t i = 0; i < s.atoms; ++i) {
    const Vector3 r{s.positions[3 * i], s.positions[3 * i + 1], s.positions[3 * i + 2]};
    for (int k = 0; k < 3; ++k) {
      along[3 * i + k] = dot_of(r, basis.duals[k]);
    }
  }
  return along;
}

double AtomBins::count() const {
  return static_cast<double>(axes[0].bins) * static_cast<double>(axes[1].bins) *
         static_cast<double>(axes[2].bins);
}

/// Bins of at least the cutoff's width where there is room for them.
void AtomBins::divide(const NeighbourSearch& s, const LatticeBasis& basis, const std::vector<double>& along) {
  const double width = s.cutoff * wall_margin;
  for (int k = 0; k < 3; ++k) {
    Axis& axis = axes[k];
    axis = {};
    axis.periodic = s.periodic[k];
    double height = 0;
    if (axis.periodic) {
      height = 1 / length_of(basis.duals[k]);
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
        close_gaps(along, k, s.cutoff * wall_margin);
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

}  // namespace weyl::kernels
