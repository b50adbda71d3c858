#include "weyl/data/shapes/body.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/data/shapes/convex_hull.h"

namespace weyl {
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
  for (auto& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) {
      part[i] -= centre[i % 3] / volume;
    }
  }
  return body_of_parts(name, volume, parts);
}

}  // namespace weyl
