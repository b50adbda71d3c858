#include "weyl/data/clouds/surface.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/algebra/lattice/vector3.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

template <class T>
void fit(std::span<T> points) {
  std::array<double, 3> low, high;
  low.fill(INFINITY);
  high.fill(-INFINITY);
  for (size_t i = 0; i < points.size(); ++i) {
    low[i % 3] = std::min<double>(low[i % 3], points[i]);
    high[i % 3] = std::max<double>(high[i % 3], points[i]);
  }
  double furthest = 0;
  for (size_t i = 0; i < points.size(); i += 3) {
    double square = 0;
    for (size_t d = 0; d < 3; ++d) {
      const double x = points[i + d] - 0.5 * (low[d] + high[d]);
      points[i + d] = static_cast<T>(x);
      square += x * x;
    }
    furthest = std::max(furthest, std::sqrt(square));
  }
  for (T& x : points) {
    x = static_cast<T>(furthest > 0 ? x / furthest : 0);
  }
}

template <class T>
void turned(std::span<T> points, const Rotation& r) {
  for (size_t i = 0; i + 2 < points.size(); i += 3) {
    const double x = points[i], y = points[i + 1], z = points[i + 2];
    for (size_t d = 0; d < 3; ++d) {
      points[i + d] = static_cast<T>(r[3 * d] * x + r[3 * d + 1] * y + r[3 * d + 2] * z);
    }
  }
}

Rotation about(int axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Rotation r{};
  r[4 * axis] = 1;
  r[4 * i] = r[4 * j] = c;
  r[3 * i + j] = -s;
  r[3 * j + i] = s;
  return r;
}

Rotation product(const Rotation& a, const Rotation& b) {
  Rotation r{};
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 3; ++k) {
      r[i] += a[i / 3 * 3 + k] * b[3 * k + i % 3];
    }
  }
  return r;
}

Rotation of_quaternion(std::array<double, 4> q) {
  const double n = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double& x : q) {
    x /= n;
  }
  const auto [w, x, y, z] = q;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

}  // namespace

std::vector<float> sample_surface(const Mesh& mesh, int64_t count, Stream& stream,
                                  std::vector<float>* normals) {
  require(count >= 1, "sample_surface: there must be at least 1 point, got ", count);
  const auto corner = [&](int64_t triangle, int64_t c, size_t d) {
    return mesh.vertices[3 * mesh.triangles[3 * triangle + c] + d];
  };
  const auto across = [&](int64_t triangle) {  // twice its area long
    Vector3 u, v;
    for (size_t d = 0; d < 3; ++d) {
      u[d] = corner(triangle, 1, d) - corner(triangle, 0, d);
      v[d] = corner(triangle, 2, d) - corner(triangle, 0, d);
    }
    return cross(u, v);
  };
  std::vector<double> areas(mesh.triangle_count());
  double total = 0;
  for (int64_t t = 0; t < mesh.triangle_count(); ++t) {
    total += 0.5 * length(across(t));
    areas[t] = total;
  }
  require(total > 0 && std::isfinite(total),
          "sample_surface: the area of the surface must be positive and finite, got ", total);
  std::vector<float> points;
  points.reserve(3 * count);
  for (int64_t p = 0; p < count; ++p) {
    const double drawn = stream.uniform() * total;
    const auto found = std::upper_bound(areas.begin(), areas.end(), drawn);
    const int64_t t = std::min<int64_t>(found - areas.begin(), mesh.triangle_count() - 1);
    double a = stream.uniform(), b = stream.uniform();
    if (a + b > 1) {  // the other half of the parallelogram
      a = 1 - a;
      b = 1 - b;
    }
    for (size_t d = 0; d < 3; ++d) {
      points.push_back(
          static_cast<float>((1 - a - b) * corner(t, 0, d) + a * corner(t, 1, d) + b * corner(t, 2, d)));
    }
    if (normals != nullptr) {
      const Vector3 normal = across(t);
      const double size = length(normal);
      for (const double x : normal) {
        normals->push_back(static_cast<float>(x / size));
      }
    }
  }
  return points;
}

void fit_into_ball(std::span<double> points) {
  fit(points);
}
void fit_into_ball(std::span<float> points) {
  fit(points);
}

Rotation draw_rotation(Turning turning, int up, Stream& stream) {
  constexpr double kPi = std::numbers::pi;
  switch (turning) {
    case Turning::none:
      return {1, 0, 0, 0, 1, 0, 0, 0, 1};
    case Turning::z:
      return about(up, 2 * kPi * stream.uniform());
    case Turning::so3: {
      const double u = stream.uniform(), v = stream.uniform(), w = stream.uniform();
      return product(product(about(2, 2 * kPi * u), about(1, kPi * v)), about(2, 2 * kPi * w));
    }
    case Turning::uniform:
      break;
  }
  std::array<double, 4> q;
  for (double& x : q) {
    x = stream.normal();
  }
  return of_quaternion(q);
}

void turn(std::span<float> points, const Rotation& rotation) {
  turned(points, rotation);
}
void turn(std::span<double> points, const Rotation& rotation) {
  turned(points, rotation);
}

}  // namespace weyl
