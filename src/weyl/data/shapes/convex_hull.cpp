#include "weyl/data/shapes/convex_hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

using Place = std::array<double, 3>;
using Face = std::array<int64_t, 3>;

constexpr double kShift = 1e-6;     // of the points, in sizes of the whole: no four lie in a plane afterwards
constexpr double kFlattest = 1e-5;  // volume of the first tetrahedron, in cubes of the size
constexpr int64_t kDirections = 4096;

Place minus(const Place& a, const Place& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Place cross(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Place& a, const Place& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double square(const Place& a) {
  return dot(a, a);
}

std::vector<Place> places(std::span<const double> points) {
  std::vector<Place> result(points.size() / 3);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
  }
  return result;
}

/// Points moved and scaled to a size of 1, and each shifted a little: the hull of points in general position has
/// triangles alone, and none of its decisions hangs on rounding.
std::vector<Place> in_general_position(std::span<const double> points) {
  std::vector<Place> x = places(points);
  Place low = x[0], high = x[0];
  for (const Place& p : x) {
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  require(size > 0 && std::isfinite(size), "convex hull: the points must be finite and not all the same");
  Stream shifts(0, "convex hull");
  for (Place& p : x) {
    for (int d = 0; d < 3; ++d) {
      p[d] = (p[d] - 0.5 * (low[d] + high[d])) / size + kShift * (shifts.uniform() - 0.5);
    }
  }
  return x;
}

/// Four points that are far from lying in a plane: each the furthest from what those before it span.
std::array<int64_t, 4> first_tetrahedron(const std::vector<Place>& x) {
  const auto count = static_cast<int64_t>(x.size());
  std::array<int64_t, 4> at{};
  const auto furthest = [&](auto distance) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i) {
      best = distance(x[i]) > distance(x[best]) ? i : best;
    }
    return best;
  };
  at[0] = furthest([](const Place& p) { return p[0]; });
  at[1] = furthest([&](const Place& p) { return square(minus(p, x[at[0]])); });
  const Place along = minus(x[at[1]], x[at[0]]);
  at[2] = furthest([&](const Place& p) { return square(cross(along, minus(p, x[at[0]]))); });
  const Place normal = cross(along, minus(x[at[2]], x[at[0]]));
  at[3] = furthest([&](const Place& p) { return std::abs(dot(normal, minus(p, x[at[0]]))); });
  const double volume = std::abs(dot(normal, minus(x[at[3]], x[at[0]])));
  require(volume > kFlattest, "convex hull: the points must not lie in a plane, they enclose nothing");
  if (dot(normal, minus(x[at[3]], x[at[0]])) > 0) {  // the fourth lies behind the face of the first three
    std::swap(at[1], at[2]);
  }
  return at;
}

}  // namespace

std::vector<int64_t> hull_triangles(std::span<const double> points) {
  require(points.size() >= 12 && points.size() % 3 == 0, "convex hull: there must be at least 4 points, got ",
          points.size() / 3);
  const auto x = in_general_position(points);
  const auto [a, b, c, d] = first_tetrahedron(x);
  std::vector<Face> faces{{a, b, c}, {a, c, d}, {a, d, b}, {b, d, c}};
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    if (i == a || i == b || i == c || i == d) {
      continue;
    }
    // The faces that see the point are taken away; those from the edge of the hole to the point take their place.
    std::vector<Face> kept;
    std::map<std::pair<int64_t, int64_t>, bool> edges;  // of what is taken away, each as its face has it
    for (const Face& f : faces) {
      const Place normal = cross(minus(x[f[1]], x[f[0]]), minus(x[f[2]], x[f[0]]));
      if (dot(normal, minus(x[i], x[f[0]])) > 0) {
        for (int k = 0; k < 3; ++k) {
          edges[{f[k], f[(k + 1) % 3]}] = true;
        }
      } else {
        kept.push_back(f);
      }
    }
    for (const auto& [edge, seen] : edges) {
      if (!edges.contains({edge.second, edge.first})) {
        kept.push_back({edge.first, edge.second, i});
      }
    }
    faces = std::move(kept);
  }
  std::vector<int64_t> triangles;
  for (const Face& f : faces) {
    triangles.insert(triangles.end(), f.begin(), f.end());
  }
  return triangles;
}

std::vector<int64_t> hull_corners(std::span<const double> points, int64_t most) {
  require(points.size() >= 3 && most >= 4, "convex hull: there must be points, and at least 4 corners");
  const auto x = places(points);
  std::vector<char> extreme(x.size());
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
  for (int64_t k = 0; k < kDirections; ++k) {  // a spiral over the sphere
    const double z = 1 - (2 * static_cast<double>(k) + 1) / kDirections, r = std::sqrt(1 - z * z),
                 angle = turn * static_cast<double>(k) + 0.1;
    const Place direction{r * std::cos(angle), r * std::sin(angle), z};
    size_t best = 0;
    for (size_t i = 1; i < x.size(); ++i) {
      best = dot(direction, x[i]) > dot(direction, x[best]) ? i : best;
    }
    extreme[best] = 1;
  }
  std::vector<int64_t> corners;
  for (size_t i = 0; i < x.size(); ++i) {
    if (extreme[i] != 0) {
      corners.push_back(static_cast<int64_t>(i));
    }
  }
  if (static_cast<int64_t>(corners.size()) <= most) {
    return corners;
  }
  std::vector<int64_t> chosen{corners[0]};
  std::vector<double> distance(corners.size(), std::numeric_limits<double>::infinity());
  while (static_cast<int64_t>(chosen.size()) < most) {
    size_t next = 0;
    for (size_t i = 0; i < corners.size(); ++i) {
      distance[i] = std::min(distance[i], square(minus(x[corners[i]], x[chosen.back()])));
      next = distance[i] > distance[next] ? i : next;
    }
    chosen.push_back(corners[next]);
  }
  std::ranges::sort(chosen);
  return chosen;
}

Enclosed enclosed_by(std::span<const double> points, std::span<const int64_t> triangles) {
  const auto at = [&](int64_t i) { return Place{points[3 * i], points[3 * i + 1], points[3 * i + 2]}; };
  Enclosed result;
  for (size_t t = 0; t + 2 < triangles.size(); t += 3) {
    const Place a = at(triangles[t]), b = at(triangles[t + 1]), c = at(triangles[t + 2]);
    const double volume = dot(a, cross(b, c)) / 6;
    result.volume += volume;
    for (int d = 0; d < 3; ++d) {
      result.centre[d] += volume * (a[d] + b[d] + c[d]) / 4;
    }
  }
  for (double& x : result.centre) {
    x = result.volume != 0 ? x / result.volume : 0;
  }
  return result;
}

}  // namespace weyl
