// Bodies of convex parts: hulls, meshes as bodies, and the eleven shapes against the published tables.
#include "weyl/data/bodies/body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/makers/bodies/body_families.h"

namespace weyl {
namespace body_test {

/// How far any of the points lies outside of the plane of any of the triangles, seen from outside.
double sticks_out(std::span<const double> points, std::span<const int64_t> triangles) {
  double worst = -INFINITY;
  for (size_t t = 0; t < triangles.size(); t += 3) {
    const double *a = &points[3 * triangles[t]], *b = &points[3 * triangles[t + 1]],
                 *c = &points[3 * triangles[t + 2]];
    const double u[] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double n[] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double length = std::hypot(n[0], n[1], n[2]);
    for (size_t i = 0; i < points.size(); i += 3) {
      worst = std::max(
          worst, (n[0] * (points[i] - a[0]) + n[1] * (points[i + 1] - a[1]) + n[2] * (points[i + 2] - a[2])) /
                     length);
    }
  }
  return worst;
}

/// Every edge belongs to two triangles, which go along it in opposite directions.
bool is_closed(std::span<const int64_t> triangles) {
  std::map<std::pair<int64_t, int64_t>, int> edges;
  for (size_t t = 0; t < triangles.size(); t += 3) {
    for (int k = 0; k < 3; ++k) {
      ++edges[{triangles[t + k], triangles[t + (k + 1) % 3]}];
    }
  }
  return std::ranges::all_of(edges, [&](const auto& edge) {
    return edge.second == 1 && edges.contains({edge.first.second, edge.first.first});
  });
}

const std::vector<double> kCube{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};

TEST(ConvexHull, OfACubeHasTwelveTrianglesAndLeavesOutWhatLiesInside) {
  std::vector<double> points = kCube;
  points.insert(points.end(), {0.5, 0.5, 0.5, 0.9, 0.1, 0.3});
  const auto triangles = hull_triangles(points);
  EXPECT_EQ(triangles.size(), 3 * 12);
  EXPECT_TRUE(is_closed(triangles));
  EXPECT_LT(*std::ranges::max_element(triangles), 8);
  EXPECT_LT(sticks_out(points, triangles), 1e-12);
  const Enclosed inside = enclosed_by(points, triangles);
  EXPECT_NEAR(inside.volume, 1, 1e-12);
  for (const double x : inside.centre) {
    EXPECT_NEAR(x, 0.5, 1e-12);
  }
  points.insert(points.end(), {1.2, 0.5, 0.5});  // and the check of convexity sees a point outside
  EXPECT_NEAR(sticks_out(points, triangles), 0.2, 1e-12);
}

TEST(ConvexHull, OfPointsOfASphereHasAllOfThem) {
  Stream stream(1, "hull test");
  for (const int64_t count : {4, 5, 64, 300}) {
    std::vector<double> points;
    for (int64_t i = 0; i < count; ++i) {
      const double x[] = {stream.normal(), stream.normal(), stream.normal()};
      for (const double c : x) {
        points.push_back(7 + 3 * c / std::hypot(x[0], x[1], x[2]));
      }
    }
    const auto triangles = hull_triangles(points);
    EXPECT_EQ(triangles.size(), 3 * (2 * count - 4));
    EXPECT_TRUE(is_closed(triangles));
    EXPECT_LT(sticks_out(points, triangles), 1e-5);
    EXPECT_GT(enclosed_by(points, triangles).volume, 0);
  }
}

TEST(ConvexHull, RefusesWhatEnclosesNothing) {
  EXPECT_NE(
      message_of<ShapeError>([] { hull_triangles(std::vector<double>(9, 1.0)); }).find("at least 4 points"),
      std::string::npos);
  EXPECT_NE(message_of<ShapeError>([] { hull_triangles(std::span(kCube).first(12)); }).find("in a plane"),
            std::string::npos);
  EXPECT_NE(message_of<ShapeError>([] { hull_triangles(std::vector<double>(12, 2.0)); }).find("all the same"),
            std::string::npos);
}

/// Points (P, 3), stretched along x, y, z and then turned about (1, 1, 1) and shifted.
std::vector<double> turned(std::vector<double> points, std::array<double, 3> stretch) {
  const double third = 1 / std::sqrt(3.0), c = std::cos(0.7), s = std::sin(0.7) * third, k = (1 - c) / 3;
  for (size_t i = 0; i < points.size(); i += 3) {
    const double x = points[i] * stretch[0], y = points[i + 1] * stretch[1], z = points[i + 2] * stretch[2];
    const double sum = k * (x + y + z);
    points[i] = c * x + s * (z - y) + sum + 5;
    points[i + 1] = c * y + s * (x - z) + sum - 3;
    points[i + 2] = c * z + s * (y - x) + sum + 1;
  }
  return points;
}

/// The corners of a cube of edge 1, after them points of a grid on its surface and inside it, and all corners again.
std::vector<double> cube_with_grid() {
  std::vector<double> points = kCube;
  for (int i = 0; i < 125; ++i) {
    points.insert(points.end(), {i % 5 / 4.0, i / 5 % 5 / 4.0, i / 25 / 4.0});
  }
  points.insert(points.end(), kCube.begin(), kCube.end());
  return points;
}

std::vector<double> rows(const std::vector<double>& points, const std::vector<int64_t>& which) {
  std::vector<double> result;
  for (const int64_t row : which) {
    result.insert(result.end(), &points[3 * row], &points[3 * row] + 3);
  }
  return result;
}

TEST(HullCorners, AreTheEightOfBoxesNeedlesAndPlatesWithPointsBetweenThem) {
  const std::vector<std::array<double, 3>> stretches{{1, 1, 1},       {1, 1e-3, 1e-3}, {1, 1, 1e-3},
                                                     {1, 1e-4, 1e-4}, {7, 0.3, 2e-3},  {1e-6, 1e-6, 1e-6}};
  for (const auto& stretch : stretches) {
    for (const bool turn : {false, true}) {
      std::vector<double> points = cube_with_grid();
      for (size_t i = 0; i < points.size(); ++i) {
        points[i] *= turn ? 1 : stretch[i % 3];
      }
      points = turn ? turned(points, stretch) : points;
      const auto corners = hull_corners(points, 64);
      EXPECT_EQ(corners.size(), 8) << stretch[0] << " " << stretch[1] << " " << stretch[2] << " " << turn;
      const auto own = rows(points, corners);
      const auto triangles = hull_triangles(own);
      EXPECT_EQ(triangles.size(), 3 * 12);
      EXPECT_TRUE(is_closed(triangles));
      const double volume = stretch[0] * stretch[1] * stretch[2];
      EXPECT_NEAR(enclosed_by(own, triangles).volume / volume, 1, 1e-6);
    }
  }
}

TEST(HullCorners, AreAllOfThemHoweverNarrowTheirCones) {
  // A corner of a roof that rises by 1e-4 is furthest along directions within 1e-4 of the vertical alone.
  std::vector<double> points = kCube;
  points.insert(points.end(), {0.5, 0.5, 1 + 1e-4});
  EXPECT_EQ(hull_corners(points, 64), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  Stream stream(3, "hull test");
  for (const int64_t count : {4, 10, 60}) {  // of a lens: a sphere pressed flat
    std::vector<double> lens;
    for (int64_t i = 0; i < count; ++i) {
      const double x[] = {stream.normal(), stream.normal(), stream.normal()};
      const double length = std::hypot(x[0], x[1], x[2]);
      lens.insert(lens.end(), {x[0] / length, x[1] / length, 1e-2 * x[2] / length});
    }
    const auto all = hull_corners(lens, 64);
    EXPECT_EQ(static_cast<int64_t>(all.size()), count);
    EXPECT_EQ(hull_triangles(lens).size(), 3 * (2 * count - 4));
  }
}

TEST(HullCorners, OfRandomPointsLeaveNoneOutside) {
  Stream stream(2, "hull test");
  std::vector<double> ball;
  for (int i = 0; i < 9000; ++i) {
    ball.push_back(stream.normal());
  }
  const auto all = hull_corners(ball, 1000);
  EXPECT_LT(all.size(), 300);
  const auto triangles = hull_triangles(ball);
  EXPECT_TRUE(is_closed(triangles));
  EXPECT_LT(sticks_out(ball, triangles), 1e-9);
  std::set<int64_t> used(triangles.begin(), triangles.end());
  EXPECT_TRUE(std::ranges::includes(used, all));
  const double volume = enclosed_by(ball, triangles).volume;
  const auto own = rows(ball, all);
  EXPECT_NEAR(enclosed_by(own, hull_triangles(own)).volume / volume, 1, 1e-5);

  for (size_t i = 0; i < ball.size();
       i += 3) {  // on a sphere all are corners: the limit is kept, and little left out
    const double length = std::hypot(ball[i], ball[i + 1], ball[i + 2]);
    for (size_t d = i; d < i + 3; ++d) {
      ball[d] /= length;
    }
  }
  const auto some = hull_corners(ball, 64);
  EXPECT_EQ(some.size(), 64);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  const auto few = rows(ball, some);
  EXPECT_GT(enclosed_by(few, hull_triangles(few)).volume, 0.85 * 4.18879);
}

// Numbers of the collision meshes of KuBasic, their masses and bounds: the fact sheet's table.
TEST(Bodies, HaveThePublishedNumbers) {
  struct Row {
    const char* name;
    double mass;
    int64_t triangles, vertices, parts;
    std::array<double, 6> bounds;
  };
  const Row rows[] = {{"cube", 0.9936, 98, 51, 1, {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5}},
                      {"cylinder", 0.7808, 124, 64, 1, {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5}},
                      {"sphere", 0.5225, 124, 64, 1, {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5}},
                      {"cone", 0.4774, 124, 64, 1, {-0.6007, -0.6007, -0.3062, 0.6007, 0.6007, 0.8997}},
                      {"torus", 0.2627, 1246, 647, 12, {-0.75, -0.75, -0.15, 0.75, 0.75, 0.15}},
                      {"gear", 0.2842, 1046, 569, 23, {-0.7494, -0.7494, -0.1386, 0.7494, 0.7494, 0.1386}},
                      {"torus_knot", 0.2724, 2160, 1142, 31, {-0.809, -0.748, -0.346, 0.591, 0.748, 0.346}},
                      {"sponge", 0.5476, 1512, 908, 76, {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5}},
                      {"spot", 0.2763, 1308, 682, 14, {-0.343, -0.626, -0.528, 0.343, 0.623, 0.701}},
                      {"teapot", 0.3227, 512, 274, 9, {-0.465, -0.702, -0.291, 0.465, 0.793, 0.441}},
                      {"suzanne", 0.3113, 994, 523, 13, {-0.7135, -0.441, -0.641, 0.7135, 0.419, 0.385}}};
  ASSERT_EQ(std::size(rows), body_names.size());
  double triangles = 0;
  for (size_t k = 0; k < std::size(rows); ++k) {
    const BodyShape shape = make_body(static_cast<int64_t>(k));
    EXPECT_EQ(shape.name, rows[k].name);
    EXPECT_EQ(shape.mass, rows[k].mass) << shape.name;
    EXPECT_EQ(shape.triangle_count(), rows[k].triangles) << shape.name;
    EXPECT_EQ(shape.vertex_count(), rows[k].vertices) << shape.name;
    EXPECT_EQ(shape.part_count(), rows[k].parts) << shape.name;
    const auto bounds = bounds_of(shape);
    for (int d = 0; d < 6; ++d) {
      EXPECT_NEAR(bounds[d], rows[k].bounds[d], 1e-12) << shape.name << " " << d;
    }
    triangles += static_cast<double>(shape.triangle_count());
  }
  EXPECT_NEAR(triangles / std::size(rows), 840.7, 0.05);
}

TEST(Bodies, AreConvexAndClosedPartsOfAtMost64Corners) {
  for (size_t k = 0; k < body_names.size(); ++k) {
    const BodyShape shape = make_body(static_cast<int64_t>(k));
    std::vector<std::vector<int64_t>> of(shape.part_count());
    for (int64_t t = 0; t < shape.triangle_count(); ++t) {
      const int64_t* corner = &shape.triangles[3 * t];
      const auto part = std::ranges::upper_bound(shape.parts, corner[0]) - shape.parts.begin() - 1;
      of[part].insert(of[part].end(), corner, corner + 3);
    }
    double volume = 0;
    for (int64_t part = 0; part < shape.part_count(); ++part) {
      const int64_t begin = shape.parts[part], count = shape.parts[part + 1] - begin;
      const std::set<int64_t> used(of[part].begin(), of[part].end());
      EXPECT_LE(count, most_corners) << shape.name;
      EXPECT_EQ(static_cast<int64_t>(used.size()), count) << shape.name << " part " << part;
      EXPECT_EQ(*used.begin(), begin);
      EXPECT_TRUE(is_closed(of[part])) << shape.name << " part " << part;
      std::vector<int64_t> own = of[part];
      for (int64_t& corner : own) {
        corner -= begin;
      }
      EXPECT_LT(sticks_out(std::span(shape.vertices).subspan(3 * begin, 3 * count), own), 1e-9) << shape.name;
      volume += enclosed_by(shape.vertices, of[part]).volume;
    }
    EXPECT_GT(volume, 0.8 * shape.mass) << shape.name;  // parts may overlap, and the gear has no hole
    EXPECT_LT(volume, 1.5 * shape.mass) << shape.name;
  }
}

TEST(Bodies, HaveBoxesOfTwelveTriangles) {
  const BodyShape cone = make_body(3), box = box_around(cone);
  EXPECT_EQ(box.triangle_count(), 12);
  EXPECT_EQ(box.vertex_count(), 8);
  EXPECT_EQ(box.part_count(), 1);
  EXPECT_EQ(box.mass, cone.mass);
  EXPECT_EQ(bounds_of(box), bounds_of(cone));
}

Mesh cubes(double second) {
  Mesh mesh;
  const auto triangles = hull_triangles(kCube);
  for (const double shift : {0.0, second}) {
    const int64_t begin = mesh.vertex_count();
    for (size_t i = 0; i < kCube.size(); ++i) {
      mesh.vertices.push_back(kCube[i] + (i % 3 == 0 ? shift : 0));
    }
    for (const int64_t corner : triangles) {
      mesh.triangles.push_back(begin + corner);
    }
  }
  return mesh;
}

TEST(Bodies, OfMeshesHaveAPartForEachPiece) {
  const BodyShape two = body_of_mesh(cubes(3), "two", "two.obj");
  EXPECT_EQ(two.part_count(), 2);
  EXPECT_NEAR(two.mass, 2, 1e-12);
  EXPECT_EQ(two.triangle_count(), 24);
  const auto bounds = bounds_of(two);
  const std::array<double, 6> expected{-2, -0.5, -0.5, 2, 0.5, 0.5};
  for (int d = 0; d < 6; ++d) {
    EXPECT_NEAR(bounds[d], expected[d], 1e-12);
  }
  // Corners of the same coordinates are one vertex: cubes that touch hang together, and their hull has twelve corners less four.
  EXPECT_EQ(body_of_mesh(cubes(1), "one", "one.obj").part_count(), 1);
  EXPECT_NEAR(body_of_mesh(cubes(1), "one", "one.obj").mass, 2, 1e-12);
  Mesh apart = cubes(1);  // but a file may say that they are two objects
  for (int t = 0; t < 24; ++t) {
    apart.objects.push_back(t / 12);
  }
  EXPECT_EQ(body_of_mesh(apart, "two", "two.obj").part_count(), 2);
  Mesh flat;
  flat.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  flat.triangles = {0, 1, 2, 1, 3, 2};
  EXPECT_EQ(message_of<DataError>([&] { body_of_mesh(flat, "flat", "flat.obj"); }),
            "flat.obj: piece 1 of the surface, of 4 vertices, must enclose a volume; convex hull: the points "
            "must be "
            "thicker than 1e-6 of their size, they lie (nearly) in a plane");
  flat.triangles = {0, 1, 2};
  EXPECT_EQ(
      message_of<DataError>([&] { body_of_mesh(flat, "flat", "flat.obj"); }),
      "flat.obj: piece 1 of the surface, of 3 vertices, must enclose a volume; convex hull: there must be at "
      "least 4 points, got 3");
  flat.vertices = {1, 1, 1, 1, 1, 1, 1, 1, 1};  // all the same: one vertex
  EXPECT_NE(message_of<DataError>([&] { body_of_mesh(flat, "flat", "flat.obj"); }).find("flat.obj: piece 1"),
            std::string::npos);
}

TEST(Bodies, OfReportedFilesAreAsTrimeshHasThem) {
  const auto body = [](const std::string& name) {
    const std::string path = WEYL_SOURCE_DIR "/tests/fixtures/reports/" + name;
    return body_of_mesh(read_mesh(path), "body", path);
  };
  const BodyShape two = body("06_two_solids.stl");
  EXPECT_EQ(two.part_count(), 2);
  EXPECT_EQ(two.vertex_count(), 16);
  EXPECT_NEAR(two.mass, 2, 1e-9);
  const auto bounds = bounds_of(two);
  EXPECT_NEAR(bounds[3] - bounds[0], 51, 1e-9);
  EXPECT_NEAR(bounds[4] - bounds[1], 1, 1e-9);
  EXPECT_NEAR(bounds[5] - bounds[2], 1, 1e-9);
  for (const char* name : {"16a_blank_before_solid.stl", "16c_vertices_in_an_object_of_their_own.obj"}) {
    const BodyShape cube = body(name);
    EXPECT_EQ(cube.part_count(), 1) << name;
    EXPECT_EQ(cube.vertex_count(), 8) << name;
    EXPECT_EQ(cube.triangle_count(), 12) << name;
    EXPECT_NEAR(cube.mass, 1, 1e-9) << name;
  }
}

TEST(Bodies, OfMeshesBeyondAnyScaleAreRefusedByName) {
  for (const double scale : {1e-200, 1e-13, 1e14, 1e140}) {
    Mesh mesh = cubes(3);
    for (double& x : mesh.vertices) {
      x *= scale;
    }
    const std::string fault = message_of<DataError>([&] { body_of_mesh(mesh, "two", "two.obj"); });
    EXPECT_TRUE(fault.starts_with("two.obj: the mesh must enclose a volume that float32 holds, got "))
        << fault;
  }
  // The first cube is so small beside its distance from the other that its corners fall together.
  Mesh mesh = cubes(3);
  for (size_t i = 0; i < mesh.vertices.size() / 2; ++i) {
    mesh.vertices[i] *= 1e-17;
  }
  const std::string fault = message_of<DataError>([&] { body_of_mesh(mesh, "two", "two.obj"); });
  EXPECT_TRUE(fault.starts_with("two.obj: its pieces must be of like sizes and distances; convex hull: "))
      << fault;
}

}  // namespace body_test
}  // namespace weyl
