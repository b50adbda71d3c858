#include "weyl/data/clouds/voxels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weyl/algebra/lattice/vector3.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

/// The cell of a coordinate in units of cells, clamped to the cube.
int64_t cell(double coordinate, int64_t n) {
  return static_cast<int64_t>(std::clamp(coordinate, 0.0, static_cast<double>(n - 1)));
}

void require_size(int64_t n) {
  require(n >= 1 && n <= 1024, "voxelise: cells along an axis must be 1 .. 1024, got ", n);
}

Vector3 vector_minus(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

/// Whether the projections on `axis` of the unit cube around the origin and of a triangle are apart.
bool apart(const Vector3& axis, const std::array<Vector3, 3>& t) {
  const double a = dot(axis, t[0]), b = dot(axis, t[1]), c = dot(axis, t[2]);
  const double half = 0.5 * (std::abs(axis[0]) + std::abs(axis[1]) + std::abs(axis[2])) + 1e-12;
  return std::min({a, b, c}) > half || std::max({a, b, c}) < -half;
}

/// The separating axes of Akenine-Moeller: faces of the cube, the triangle's normal, products of edges.
bool touches(const std::array<Vector3, 3>& t) {
  constexpr Vector3 kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const Vector3 edges[] = {vector_minus(t[1], t[0]), vector_minus(t[2], t[1]), vector_minus(t[0], t[2])};
  if (apart(cross(edges[0], edges[1]), t)) {
    return false;
  }
  for (const Vector3& axis : kAxes) {
    if (apart(axis, t)) {
      return false;
    }
    for (const Vector3& edge : edges) {
      if (apart(cross(axis, edge), t)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<uint8_t> voxelise(std::span<const float> points, int64_t n) {
  require_size(n);
  require(points.size() % 3 == 0, "voxelise: points must be (P, 3), got ", points.size(), " numbers");
  std::vector<uint8_t> cells(n * n * n);
  const double scale = 0.5 * static_cast<double>(n);
  for (size_t p = 0; p < points.size(); p += 3) {
    int64_t at = 0;
    for (size_t d = 0; d < 3; ++d) {
      require(std::isfinite(points[p + d]), "voxelise: coordinates must be finite, those of point ", p / 3,
              " are not");
      at = at * n + cell((static_cast<double>(points[p + d]) + 1) * scale, n);
    }
    cells[at] = 1;
  }
  return cells;
}

std::vector<float> point_density(std::span<const float> points, int64_t n, double sigma) {
  require_size(n);
  require(points.size() % 3 == 0, "point_density: points must be (P, 3), got ", points.size(), " numbers");
  require(sigma >= 0.3 && sigma <= 100, "point_density: sigma must be 0.3 .. 100 cells, got ", sigma);
  std::vector<float> cells(n * n * n);
  const double count = static_cast<double>(points.size()) / 3, size = static_cast<double>(n);
  // On a plane, points of one per area a with Gaussians of height h make h 2 pi sigma^2 / a. The sphere's
  // area is pi n^2 in units of cells.
  const double peak = size * size / (2 * sigma * sigma * count);
  const double reach = 4 * sigma;
  std::array<std::vector<float>, 3> weights;
  std::array<int64_t, 3> first{};
  for (size_t p = 0; p < points.size(); p += 3) {
    for (size_t d = 0; d < 3; ++d) {
      require(std::isfinite(points[p + d]), "point_density: coordinates must be finite, those of point ",
              p / 3, " are not");
      const double at = (std::clamp(static_cast<double>(points[p + d]), -1.0, 1.0) + 1) * size / 2 - 0.5;
      first[d] = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(at - reach)));
      const int64_t last = std::min(n - 1, static_cast<int64_t>(std::floor(at + reach)));
      weights[d].clear();
      for (int64_t i = first[d]; i <= last; ++i) {
        const double off = (static_cast<double>(i) - at) / sigma;
        weights[d].push_back(static_cast<float>((d == 0 ? peak : 1) * std::exp(-0.5 * off * off)));
      }
    }
    for (size_t x = 0; x < weights[0].size(); ++x) {
      for (size_t y = 0; y < weights[1].size(); ++y) {
        const float weight = weights[0][x] * weights[1][y];
        float* row =
            &cells[((first[0] + static_cast<int64_t>(x)) * n + first[1] + static_cast<int64_t>(y)) * n +
                   first[2]];
        for (size_t z = 0; z < weights[2].size(); ++z) {
          row[z] += weight * weights[2][z];
        }
      }
    }
  }
  return cells;
}

std::vector<uint8_t> voxelise(const Mesh& mesh, int64_t n) {
  require_size(n);
  std::vector<uint8_t> cells(n * n * n);
  const double scale = 0.5 * static_cast<double>(n);
  for (size_t k = 0; k < mesh.triangles.size(); k += 3) {
    std::array<Vector3, 3> t;
    std::array<int64_t, 3> low{n, n, n}, high{};
    for (size_t c = 0; c < 3; ++c) {
      int64_t at = 0;
      for (size_t d = 0; d < 3; ++d) {
        t[c][d] = (mesh.vertices[3 * mesh.triangles[k + c] + d] + 1) * scale;
        require(std::isfinite(t[c][d]), "voxelise: coordinates must be finite");
        const int64_t i = cell(t[c][d], n);
        at = at * n + i;
        low[d] = std::min(low[d], i);
        high[d] = std::max(high[d], i);
      }
      cells[at] = 1;
    }
    for (int64_t x = low[0]; x <= high[0]; ++x) {
      for (int64_t y = low[1]; y <= high[1]; ++y) {
        for (int64_t z = low[2]; z <= high[2]; ++z) {
          const Vector3 centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5,
                               static_cast<double>(z) + 0.5};
          uint8_t& at = cells[(x * n + y) * n + z];
          if (at == 0 &&
              touches({vector_minus(t[0], centre), vector_minus(t[1], centre), vector_minus(t[2], centre)})) {
            at = 1;
          }
        }
      }
    }
  }
  return cells;
}

}  // namespace weyl
