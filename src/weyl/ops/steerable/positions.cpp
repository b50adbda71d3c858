#include "weyl/ops/steerable/positions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>

#include "weyl/algebra/irreps/harmonics.h"
#include "weyl/core/check.h"

namespace weyl::steerable {
namespace {

/// Square distances in pixels, from 1 to the square of the reach, of the points of a square or cubic grid.
std::vector<int64_t> square_distances(int64_t dimension, const PositionOptions& options) {
  const double reach = options.reach;
  require(reach >= 1 && reach <= 400, "steerable positions: reach must be from 1 to 400 pixels, got ", reach);
  const auto most = static_cast<int64_t>(std::floor(reach * reach * (1 + 1e-12)));
  const auto side = static_cast<int64_t>(std::floor(reach * (1 + 1e-12)));
  std::set<int64_t> found;
  for (int64_t x = 0; x <= side; ++x) {
    for (int64_t y = 0; y <= x; ++y) {
      for (int64_t z = 0; z <= (dimension == 3 ? y : 0); ++z) {
        const int64_t square = x * x + y * y + z * z;
        if (square > 0 && square <= most) {
          found.insert(square);
        }
      }
    }
  }
  return {found.begin(), found.end()};
}

double modulation(const PositionOptions& options, double r) {
  switch (options.radial) {
    case RadialLaw::inverse_square:
      return 1 / (r * r);
    case RadialLaw::gaussian:
      return std::exp(-r * r / (2 * options.width * options.width));
    case RadialLaw::table:
      return 1;
    case RadialLaw::none:
      return 0;
  }
  return 0;
}

std::vector<std::complex<double>> harmonics_of(const SteerableType& type, const double (&d)[3]) {
  if (type.dimension == 2) {
    return circular_harmonics(type.irreps(), -std::atan2(d[1], d[0]));
  }
  return spherical_harmonics(type.irreps() - 1, d);
}

}  // namespace

int64_t position_radii(int64_t dimension, const PositionOptions& options) {
  require(options.radial != RadialLaw::gaussian || (options.width > 0 && std::isfinite(options.width)),
          "steerable positions: width must be positive, got ", options.width);
  if (options.radial == RadialLaw::none) {
    return 0;
  }
  return options.radial == RadialLaw::table
             ? static_cast<int64_t>(square_distances(dimension, options).size())
             : 1;
}

Positions::Positions(const SteerableType& type, std::vector<int64_t> grid, const PositionOptions& options)
    : grid_(std::move(grid)), radii_(position_radii(type.dimension, options)) {
  require(
      static_cast<int64_t>(grid_.size()) == type.dimension && (type.dimension == 2 || type.dimension == 3),
      "SteerablePositions: grid must have ", type.dimension, " axes, got ", grid_.size());
  require(radii_ > 0, "SteerablePositions: radial `none` has no positional vectors");
  int64_t count = 1, m = 0;
  for (const int64_t g : grid_) {
    require(g >= 1 && g <= 4096, "SteerablePositions: an axis must have from 1 to 4096 pixels, got ", g);
    count *= 2 * g - 1;
  }
  for (int64_t l = 0; l < type.irreps(); ++l) {
    m += type.components(l);
  }
  harmonics_ = at::zeros({count, m, 2}, at::kDouble);
  radius_ = at::zeros({count}, at::kLong);
  auto* to = harmonics_.mutable_data_ptr<double>();
  auto* radius = radius_.mutable_data_ptr<int64_t>();
  const std::vector<int64_t> squares =
      options.radial == RadialLaw::table ? square_distances(type.dimension, options) : std::vector<int64_t>{};
  for (int64_t index = 0; index < count; ++index) {
    double d[3] = {};  // x_i - x_j, in pixels
    int64_t rest = index, square = 0;
    for (int64_t a = type.dimension - 1; a >= 0; --a) {
      const int64_t side = 2 * grid_[a] - 1, step = grid_[a] - 1 - rest % side;
      rest /= side;
      square += step * step;
      d[a] = static_cast<double>(step);
    }
    if (square == 0) {
      continue;
    }
    if (options.radial == RadialLaw::table) {
      const auto found = std::lower_bound(squares.begin(), squares.end(), square);
      if (found == squares.end()) {
        continue;
      }
      radius[index] = found - squares.begin();
    }
    const double phi = modulation(options, std::sqrt(static_cast<double>(square)));
    const std::vector<std::complex<double>> h = harmonics_of(type, d);
    for (int64_t k = 0; k < m; ++k) {
      to[(index * m + k) * 2] = phi * h[k].real();
      to[(index * m + k) * 2 + 1] = phi * h[k].imag();
    }
  }
}

Positions::Positions(std::vector<int64_t> grid, Tensor harmonics, Tensor radius, int64_t radii)
    : grid_(std::move(grid)), harmonics_(std::move(harmonics)), radius_(std::move(radius)), radii_(radii) {
  int64_t count = 1;
  for (const int64_t g : grid_) {
    count *= 2 * g - 1;
  }
  require(harmonics_.dim() == 3 && harmonics_.size(0) == count && harmonics_.size(2) == 2 &&
              harmonics_.scalar_type() == at::kDouble && radius_.dim() == 1 && radius_.size(0) == count &&
              radius_.scalar_type() == at::kLong && radii >= 1,
          "SteerablePositions: harmonics must be (", count, ", M, 2) float64 and radius (", count,
          ") int64, got ", harmonics_.sizes(), " and ", radius_.sizes());
}

int64_t Positions::tokens() const {
  int64_t n = 1;
  for (const int64_t g : grid_) {
    n *= g;
  }
  return n;
}

int64_t Positions::components() const {
  return harmonics_.size(1);
}

Tensor Positions::offsets() const {
  const int64_t n = tokens();
  const Tensor result = at::empty({n, n}, at::kLong);
  auto* to = result.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t at_i = i, at_j = j, index = 0, stride = 1;
      for (size_t a = grid_.size(); a-- > 0;) {
        index += stride * (at_j % grid_[a] - at_i % grid_[a] + grid_[a] - 1);
        stride *= 2 * grid_[a] - 1;
        at_i /= grid_[a];
        at_j /= grid_[a];
      }
      to[i * n + j] = index;
    }
  }
  return result;
}

namespace {

/// The real functions (Q, offsets) that the real and imaginary parts of harmonics (offsets, M, 2) are, each once however many
/// parts it is, of either sign. `parts` (M, 2): which one a part is, from 1 on, with its sign; 0: a part that is zero.
Tensor real_functions(const Tensor& harmonics, std::vector<int32_t>& parts) {
  const Tensor candidates = harmonics.flatten(1).t();  // (2 M, offsets)
  const double rounding = 1e-13 * harmonics.abs().max().item<double>();
  const auto same = [&](const Tensor& a, const Tensor& b) {
    return ((a - b).abs() <= rounding).all().item<bool>();
  };
  std::vector<Tensor> functions;
  for (const Tensor& part : candidates.unbind(0)) {
    int32_t which = 0;
    for (size_t q = 0; which == 0 && q < functions.size(); ++q) {
      const auto number = static_cast<int32_t>(q) + 1;
      which = same(part, functions[q]) ? number : same(part, -functions[q]) ? -number : 0;
    }
    if (which == 0 && !(part.abs() <= rounding).all().item<bool>()) {
      functions.push_back(part);
      which = static_cast<int32_t>(functions.size());
    }
    parts.push_back(which);
  }
  return functions.empty() ? candidates.narrow(0, 0, 0) : at::stack(functions);
}

}  // namespace

Positions::Packed Positions::packed(at::ScalarType type) const {
  const std::lock_guard lock(mutex_);
  Packed& p = packed_[type];
  if (!p.harmonics.defined()) {
    const int64_t count = harmonics_.size(0), m = harmonics_.size(1);
    const auto vector = static_cast<int64_t>(64 / c10::elementSize(type));
    if (radii_ == 1) {
      const Tensor functions = real_functions(harmonics_, p.parts);
      const int64_t side = 2 * grid_.back() - 1, numbers = functions.numel();
      p.functions = functions.size(0);
      p.harmonics = at::zeros({numbers + vector}, type);
      p.harmonics.narrow(0, 0, numbers)
          .view({count / side, p.functions, side})
          .copy_(functions.view({p.functions, count / side, side}).transpose(0, 1));
    } else {
      p.harmonics = at::zeros({count, 2, (m + vector - 1) / vector * vector}, type);
      p.harmonics.narrow(2, 0, m).copy_(harmonics_.transpose(1, 2));
      p.radius = radius_.to(at::kInt);
    }
  }
  return p;
}

Positions::Placed Positions::placed(at::ScalarType type, at::Device device) const {
  const std::lock_guard lock(mutex_);
  Placed& p = placed_[{type, device.str()}];
  if (!p.offsets.defined()) {
    const at::NoGradGuard constant;
    p.offsets = offsets().view({-1}).to(device);
    p.harmonics = at::view_as_complex(harmonics_.to(type)).to(device);
    p.radius = radius_.to(device);
  }
  return p;
}

}  // namespace weyl::steerable
