#include "weyl/data/bodies/body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

using Wide = __int128;

constexpr double kGrid = 0x1p38;  // cells of the grid, in half sizes of the whole
constexpr double kTolerance =
    1e-6;  // in sizes: what is thinner is flat, what sticks out by less is no corner

Vector3 minus(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
std::array<Wide, 3> wide(const std::array<int64_t, 3>& a) {
  return {a[0], a[1], a[2]};
}
double square(const Vector3& a) {
  return dot(a, a);
}

/// The convex hull of those points (P, 3) that were added, in triangles. Points are rounded to a grid of 2^-39 of the
/// size of the whole, and on it everything is decided in exact integers: no rounding can open the surface or fold it.
/// A point in the plane of a triangle counts as behind it, so points inside a flat face, or of an edge, change nothing.
class Hull {
 public:
  /// `outer`: whether furthest() will be asked. Begins with four points that are far from lying in a plane: each the
  /// furthest from what those before it span.
  Hull(std::span<const double> points, bool outer) : outer_(outer) {
    require(points.size() >= 12 && points.size() % 3 == 0,
            "convex hull: there must be at least 4 points, got ", points.size() / 3);
    place(points);
    const int64_t a = furthest_by([&](const Vector3& p) { return square(p); });
    const int64_t b = furthest_by([&](const Vector3& p) { return square(minus(p, x_[a])); });
    const Vector3 along = minus(x_[b], x_[a]);
    const double length = std::sqrt(square(along));
    const auto from_line = [&](const Vector3& p) {
      return std::sqrt(square(cross(along, minus(p, x_[a])))) / length;
    };
    const int64_t c = furthest_by(from_line);
    const Vector3 normal = cross(along, minus(x_[c], x_[a]));
    const double area = std::sqrt(square(normal));
    const auto from_plane = [&](const Vector3& p) { return std::abs(dot(normal, minus(p, x_[a]))) / area; };
    const int64_t d = furthest_by(from_plane);
    require(from_line(x_[c]) > kTolerance && from_plane(x_[d]) > kTolerance,
            "convex hull: the points must be thicker than 1e-6 of their size, they lie (nearly) in a plane");
    const bool before = dot(normal, minus(x_[d], x_[a])) > 0;  // the fourth must lie behind the first three
    const int64_t u = before ? c : b, v = before ? b : c;
    faces_ = {face(a, u, v), face(a, v, d), face(a, d, u), face(u, d, v)};
  }

  /// The triangles that see the point are taken away; those from the edge of the hole to the point take their place.
  void add(int64_t i) {
    std::vector<Face> kept;
    std::map<std::pair<int64_t, int64_t>, bool> edges;  // of what is taken away, each as its face has it
    for (const Face& f : faces_) {
      if (sees(f, i)) {
        for (int k = 0; k < 3; ++k) {
          edges[{f.corners[k], f.corners[(k + 1) % 3]}] = true;
        }
      } else {
        kept.push_back(f);
      }
    }
    for (const auto& [edge, seen] : edges) {
      if (!edges.contains({edge.second, edge.first})) {
        kept.push_back(face(edge.first, edge.second, i));
      }
    }
    faces_ = std::move(kept);
  }

  /// The point that sticks out furthest, or -1 where none does by more than the tolerance.
  int64_t furthest() const {
    const auto best = std::ranges::max_element(faces_, {}, [](const Face& f) { return f.sticks_out; });
    return best->sticks_out > kTolerance ? best->furthest : -1;
  }

  std::vector<int64_t> triangles() const {
    std::vector<int64_t> result;
    for (const Face& f : faces_) {
      result.insert(result.end(), f.corners.begin(), f.corners.end());
    }
    return result;
  }

 private:
  struct Face {
    std::array<int64_t, 3> corners;
    std::array<Wide, 3> normal;  // on the grid, twice the area long
    int64_t furthest = -1;       // of the points outside, and how far it sticks out, in sizes
    double sticks_out = 0;
  };

  /// Places in sizes about the middle of their box, and on the grid.
  void place(std::span<const double> points) {
    Vector3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < points.size(); ++i) {
      low[i % 3] = std::min(low[i % 3], points[i]);
      high[i % 3] = std::max(high[i % 3], points[i]);
    }
    const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    require(size > 0 && std::isfinite(size) &&
                std::ranges::all_of(points, [](double p) { return std::isfinite(p); }),
            "convex hull: the points must be finite and not all the same");
    x_.resize(points.size() / 3);
    grid_.resize(x_.size());
    for (size_t i = 0; i < points.size(); ++i) {
      const size_t d = i % 3;
      x_[i / 3][d] = (points[i] - 0.5 * (low[d] + high[d])) / size;
      grid_[i / 3][d] = std::llround(2 * kGrid * x_[i / 3][d]);
    }
  }

  /// The point for which `far` is largest; of those that come close to that, the one furthest from the middle. So it is
  /// a corner of the whole, not a point between two corners.
  template <class Far>
  int64_t furthest_by(const Far& far) const {
    double most = -INFINITY;
    for (const Vector3& p : x_) {
      most = std::max(most, far(p));
    }
    int64_t best = -1;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (far(x_[i]) >= most - kTolerance / 2 && (best < 0 || square(x_[i]) > square(x_[best]))) {
        best = static_cast<int64_t>(i);
      }
    }
    return best;
  }

  std::array<int64_t, 3> between(int64_t from, int64_t to) const {
    return {grid_[to][0] - grid_[from][0], grid_[to][1] - grid_[from][1], grid_[to][2] - grid_[from][2]};
  }

  bool sees(const Face& f, int64_t i) const {
    const auto to = between(f.corners[0], i);
    return f.normal[0] * to[0] + f.normal[1] * to[1] + f.normal[2] * to[2] > 0;
  }

  Face face(int64_t a, int64_t b, int64_t c) const {
    Face f{.corners = {a, b, c}, .normal = cross(wide(between(a, b)), wide(between(a, c)))};
    if (outer_) {
      Vector3 normal{static_cast<double>(f.normal[0]), static_cast<double>(f.normal[1]),
                     static_cast<double>(f.normal[2])};
      const double length = std::sqrt(square(normal));
      const auto outside = [&](const Vector3& p) { return dot(normal, minus(p, x_[a])) / length; };
      f.furthest = furthest_by(outside);
      f.sticks_out = outside(x_[f.furthest]);
    }
    return f;
  }

  bool outer_;
  std::vector<Vector3> x_;
  std::vector<std::array<int64_t, 3>> grid_;
  std::vector<Face> faces_;
};

}  // namespace

std::vector<int64_t> hull_triangles(std::span<const double> points) {
  Hull hull(points, false);
  for (size_t i = 0; i < points.size() / 3; ++i) {
    hull.add(static_cast<int64_t>(i));
  }
  return hull.triangles();
}

std::vector<int64_t> hull_corners(std::span<const double> points, int64_t most) {
  require(most >= 4, "convex hull: there must be at least 4 corners, got ", most);
  Hull hull(points, true);
  for (int64_t count = 4; count < most; ++count) {
    const int64_t next = hull.furthest();
    if (next < 0) {
      break;
    }
    hull.add(next);
  }
  std::vector<int64_t> corners = hull.triangles();
  std::ranges::sort(corners);
  corners.erase(std::ranges::unique(corners).begin(), corners.end());
  return corners;
}

Enclosed enclosed_by(std::span<const double> points, std::span<const int64_t> triangles) {
  Enclosed result;
  if (triangles.empty()) {
    return result;
  }
  const auto at = [&](int64_t i) { return Vector3{points[3 * i], points[3 * i + 1], points[3 * i + 2]}; };
  const Vector3 origin = at(triangles[0]);
  for (size_t t = 0; t + 2 < triangles.size(); t += 3) {
    const Vector3 a = minus(at(triangles[t]), origin), b = minus(at(triangles[t + 1]), origin),
                  c = minus(at(triangles[t + 2]), origin);
    const double volume = volume_of({a, b, c}) / 6;
    result.volume += volume;
    for (int d = 0; d < 3; ++d) {
      result.centre[d] += volume * (a[d] + b[d] + c[d]) / 4;
    }
  }
  for (int d = 0; d < 3; ++d) {
    result.centre[d] = result.volume != 0 ? origin[d] + result.centre[d] / result.volume : 0;
  }
  return result;
}

namespace {

/// The pieces of a surface that hang together, those of different objects apart: of each the places of its vertices.
std::vector<std::vector<double>> pieces_of(const Mesh& mesh) {
  using Vertex = std::pair<int64_t, std::array<double, 3>>;  // object, place
  std::map<Vertex, size_t> numbers;
  std::vector<std::array<double, 3>> places;
  std::vector<size_t> root;
  const auto number = [&](int64_t triangle, int64_t k) {
    const double* p = &mesh.vertices[3 * mesh.triangles[3 * triangle + k]];
    const Vertex vertex{mesh.objects.empty() ? 0 : mesh.objects[triangle], {p[0], p[1], p[2]}};
    const auto [at, is_new] = numbers.emplace(vertex, places.size());
    if (is_new) {
      root.push_back(places.size());
      places.push_back(vertex.second);
    }
    return at->second;
  };
  const auto find = [&](size_t i) {
    while (root[i] != i) {
      root[i] = root[root[i]];
      i = root[i];
    }
    return i;
  };
  for (int64_t t = 0; t < mesh.triangle_count(); ++t) {
    const size_t first = number(t, 0);
    for (int64_t k = 1; k < 3; ++k) {
      const size_t a = find(first), b = find(number(t, k));
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<size_t, std::vector<double>> pieces;
  for (size_t i = 0; i < places.size(); ++i) {
    auto& piece = pieces[find(i)];
    piece.insert(piece.end(), places[i].begin(), places[i].end());
  }
  std::vector<std::vector<double>> result;
  for (auto& [at, piece] : pieces) {
    result.push_back(std::move(piece));
  }
  return result;
}

std::vector<double> rows_of(std::span<const double> points, std::span<const int64_t> rows) {
  std::vector<double> result;
  for (const int64_t row : rows) {
    result.insert(result.end(), points.begin() + 3 * row, points.begin() + 3 * row + 3);
  }
  return result;
}

}  // namespace

std::array<double, 6> bounds_of(const BodyShape& shape) {
  std::array<double, 6> box{INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < shape.vertices.size(); ++i) {
    box[i % 3] = std::min(box[i % 3], shape.vertices[i]);
    box[3 + i % 3] = std::max(box[3 + i % 3], shape.vertices[i]);
  }
  return box;
}

BodyShape body_of_parts(std::string name, double mass, std::span<const std::vector<double>> parts) {
  BodyShape shape{.name = std::move(name), .mass = mass};
  for (const auto& part : parts) {
    require(static_cast<int64_t>(part.size()) <= 3 * most_corners, "body '", shape.name,
            "': a part must have at most ", most_corners, " corners, got ", part.size() / 3);
    const int64_t begin = shape.vertex_count();
    for (const int64_t corner : hull_triangles(part)) {
      shape.triangles.push_back(begin + corner);
    }
    shape.vertices.insert(shape.vertices.end(), part.begin(), part.end());
    shape.parts.push_back(shape.vertex_count());
  }
  return shape;
}

BodyShape box_around(const BodyShape& shape) {
  const auto box = bounds_of(shape);
  std::vector<double> corners;
  for (int corner = 0; corner < 8; ++corner) {
    for (int d = 0; d < 3; ++d) {
      corners.push_back(box[(corner >> d & 1) * 3 + d]);
    }
  }
  return body_of_parts(shape.name, shape.mass, {&corners, 1});
}

BodyShape body_of_mesh(const Mesh& mesh, const std::string& name, const std::string& where) {
  std::vector<std::vector<double>> parts;
  double volume = 0;
  std::array<double, 3> centre{};
  for (const auto& points : pieces_of(mesh)) {
    std::vector<double> corners;
    try {
      corners = rows_of(points, hull_corners(points, most_corners));
      const Enclosed inside = enclosed_by(corners, hull_triangles(corners));
      volume += inside.volume;
      for (int d = 0; d < 3; ++d) {
        centre[d] += inside.volume * inside.centre[d];
      }
    } catch (const ShapeError& e) {
      throw DataError(text(where, ": piece ", parts.size() + 1, " of the surface, of ", points.size() / 3,
                           " vertices, must enclose a volume; ", e.what()));
    }
    parts.push_back(std::move(corners));
  }
  // Coordinates of 1e-200 have a shape, but a volume that is no number; files of bodies keep the mass as float32.
  const bool is_volume =
      volume >= std::numeric_limits<float>::min() && volume <= std::numeric_limits<float>::max();
  require<DataError>(is_volume, where, ": the mesh must enclose a volume that float32 holds, got ", volume,
                     " (coordinates are in m); scale= says how many metres one of its units is");
  for (auto& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) {
      part[i] -= centre[i % 3] / volume;
    }
  }
  try {
    return body_of_parts(name, volume, parts);
  } catch (const ShapeError&
               e) {  // a piece so small beside its distance from the others that rounding makes it flat
    throw DataError(text(where, ": its pieces must be of like sizes and distances; ", e.what()));
  }
}

}  // namespace weyl
