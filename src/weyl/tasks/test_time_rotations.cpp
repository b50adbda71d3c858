#include "weyl/tasks/test_time_rotations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>

#include <algorithm>

#include "weyl/algebra/finite/point_groups.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr int64_t kCube = 24;

FiniteGroup group_of(const TestTimeRotations& rotations, int64_t dimension) {
  if (dimension == 2) {
    return rotations.count == 1 ? trivial(2) : cyclic(rotations.count);
  }
  if (rotations.count == 1) {
    return trivial(dimension);
  }
  std::array<double, 3> axis{};
  axis[static_cast<size_t>(rotations.axis)] = 1;
  return rotations.count == kCube ? octahedron() : cyclic_3d(rotations.count, axis);
}

}  // namespace

bool turns_grids(const TestTimeRotations& rotations, int64_t dimension) {
  const int64_t n = rotations.count;
  return n == 1 || (!rotations.random && (n == 2 || n == 4 || (dimension == 3 && n == kCube)));
}

std::vector<Placement> placements_of(const TestTimeRotations& rotations, Carrier carrier, int64_t dimension) {
  if (carrier != Carrier::grid || dimension != 3 || rotations.random || turns_grids(rotations, dimension)) {
    return {};
  }
  const Tensor matrices = matrices_of(rotations, Carrier::points, dimension).contiguous();
  std::vector<Placement> placements(static_cast<size_t>(rotations.count));
  for (size_t g = 0; g < placements.size(); ++g) {
    std::copy_n(matrices.const_data_ptr<double>() + 9 * g, 9, placements[g].rotation.begin());
  }
  return placements;
}

Tensor matrices_of(const TestTimeRotations& rotations, Carrier carrier, int64_t dimension) {
  const int64_t n = rotations.count;
  if (rotations.random && n > 1) {
    require<ConfigError>(carrier != Carrier::grid,
                         "test_time_rotations: a grid does not turn at random, only exactly");
    Stream stream(0, "test turns");  // whoever renames it changes answers
    const Tensor drawn = random_rotations(n, dimension, false, stream).linear;
    drawn[0].copy_(at::eye(dimension, at::kDouble));
    return drawn;
  }
  require<ConfigError>(n == 1 || dimension == 2 || dimension == 3,
                       "test_time_rotations: must be 1 in a space of other than 2 or 3 dimensions, got ", n);
  require<ConfigError>(carrier != Carrier::grid || turns_grids(rotations, dimension),
                       "test_time_rotations: a grid of ", dimension, " dimensions turns exactly by 1, 2, 4",
                       dimension == 3 ? " or 24" : "", " rotations, got ", n, " (points turn by any number)");
  const FiniteGroup group = group_of(rotations, dimension);
  Tensor result = at::empty({group.order(), dimension, dimension}, at::kDouble);
  auto* to = result.mutable_data_ptr<double>();
  const auto put = [&](int64_t g) { to = std::copy(group.element(g).begin(), group.element(g).end(), to); };
  put(group.identity());
  for (int64_t g = 0; g < group.order(); ++g) {
    if (g != group.identity()) {
      put(g);
    }
  }
  return result;
}

namespace {

/// The mean over orthogonal matrices (R, D, D), the identity first.
Tensor mean_over(const Tensor& matrices, const Input& input, const Interface& interface,
                 const Quantity& output, const std::function<Tensor(const Input&)>& f) {
  const Schema schema{interface};
  const int64_t B = rows_of(input, Level::graph), D = dimension_of(input);
  Tensor sum = f(input);
  for (int64_t g = 1; g < matrices.size(0); ++g) {
    const Motions there{matrices[g].expand({B, D, D}), {}}, back{matrices[g].t().expand({B, D, D}), {}};
    const Batch turned = transform({input, {}}, there, schema);
    const Tensor value = f(turned.input);
    sum = sum + transform({{output.name, value}}, {&output, 1}, back, turned.input).at(output.name);
  }
  return sum / static_cast<double>(matrices.size(0));
}

}  // namespace

Tensor mean_over_rotations(const TestTimeRotations& rotations, const Input& input, const Interface& interface,
                           const Quantity& output, const std::function<Tensor(const Input&)>& f) {
  if (rotations.count == 1) {
    return f(input);
  }
  return mean_over(matrices_of(rotations, carrier_of(interface), dimension_of(input)), input, interface,
                   output, f);
}

Tensor mirrors_of(const std::optional<TestTimeMirrors>& mirrors, int64_t dimension) {
  std::vector<int64_t> axes;
  for (int64_t a = 0; mirrors && mirrors->axes.empty() && a < dimension; ++a) {
    axes.push_back(a);
  }
  for (const int64_t a : mirrors.value_or(TestTimeMirrors{}).axes) {
    require<ConfigError>(a < dimension && std::ranges::find(axes, a) == axes.end(),
                         "test_time_mirrors.axes: must be different numbers below ", dimension, ", got ", a,
                         a < dimension ? " twice" : "");
    axes.push_back(a);
  }
  const int64_t count = int64_t{1} << axes.size();
  Tensor result = at::eye(dimension, at::kDouble).repeat({count, 1, 1});
  for (int64_t g = 0; g < count; ++g) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if ((g >> i & 1) == 1) {
        result[g][axes[i]][axes[i]].fill_(-1);
      }
    }
  }
  return result;
}

Tensor mean_over_mirrors(const std::optional<TestTimeMirrors>& mirrors, const Grid& grid,
                         const Interface& interface, const Quantity& output,
                         const std::function<Tensor(const Input&)>& f) {
  return mirrors ? mean_over(mirrors_of(mirrors, grid.values.dim() - 2), grid, interface, output, f)
                 : f(grid);
}

}  // namespace weyl
