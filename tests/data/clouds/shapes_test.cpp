// OFF meshes, voxels, points on surfaces, and the solids that are made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <tuple>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/data/clouds/voxels.h"
#include "weyl/makers/shapes/solids.h"

namespace weyl {
namespace shapes_test {

const Mesh kTetrahedron{{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}};

TEST(Off, ReadsWhatModelNetHolds) {
  EXPECT_EQ(parse_off(off_text(kTetrahedron), "x"), kTetrahedron);
  const std::string body = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
  for (const char* head :
       {"OFF\n4 4 6\n", "OFF 4 4 6\n", "OFF4 4 6\n", "OFF\r\n# made by hand\n\n4 4 0\r\n"}) {
    EXPECT_EQ(parse_off(head + body, "x"), kTetrahedron) << head;
  }
  // A face of four corners is a fan; colours are dropped.
  const Mesh square =
      parse_off("OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0 255 0 0\n0 1e0 -.0\n4 0 1 2 3 0.5 0.5 0.5\n", "x");
  EXPECT_EQ(square.triangles, (std::vector<int64_t>{0, 1, 2, 0, 2, 3}));
}

TEST(Off, KeepsCoordinatesToTheBit) {
  Stream stream(1, "off");
  Mesh mesh = kTetrahedron;
  for (double& x : mesh.vertices) x = stream.normal() * 1e-3;
  EXPECT_EQ(parse_off(off_text(mesh), "x"), mesh);
}

TEST(Off, RefusesBrokenFilesInOneLine) {
  const auto refusal = [](const std::string& file) {
    return message_of<DataError>([&] { parse_off(file, "x.off"); });
  };
  EXPECT_EQ(refusal(""), "x.off: is empty, it must begin with OFF");
  EXPECT_EQ(refusal("PLY\n"), "x.off:1: must begin with OFF, got 'PLY'");
  EXPECT_EQ(refusal("COFF\n1 1 0\n"), "x.off:1: must begin with OFF, got 'COFF'");
  EXPECT_EQ(refusal("OFF BINARY\n"), "x.off: is a binary OFF; text is read");
  EXPECT_EQ(refusal("OFFset\n"), "x.off:1: after OFF must come the number of vertices, got 'set'");
  EXPECT_EQ(refusal("OFF\n"), "x.off: the numbers of vertices and faces are missing");
  EXPECT_EQ(refusal("OFF\n3\n"),
            "x.off:2: the number of faces must be a whole number, got the end of the line");
  EXPECT_EQ(refusal("OFF\n-3 1 0\n"),
            "x.off:2: the numbers of vertices and faces must be positive and fit the file, got -3 and 1");
  EXPECT_EQ(refusal("OFF\n0 0 0\n"),
            "x.off:2: the numbers of vertices and faces must be positive and fit the file, got 0 and 0");
  EXPECT_EQ(
      refusal("OFF\n9000000000 1 0\n0 0 0\n"),
      "x.off:2: the numbers of vertices and faces must be positive and fit the file, got 9000000000 and 1");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 0 0\n"), "x.off: ends after 2 of 3 vertices");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n"),
            "x.off:4: a coordinate must be a number, got the end of the line");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 zero 0\n0 1 0\n3 0 1 2\n"),
            "x.off:4: a coordinate must be a number, got 'zero'");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n"),
            "x.off:4: coordinates must be finite, got nan");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n"), "x.off: ends after 0 of 1 faces");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n"),
            "x.off:6: a face must have at least 3 corners, got 2");
  EXPECT_EQ(refusal("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
            "x.off:6: corners must be vertices 0 .. 2, got 3");
}

TEST(Voxels, FollowTheFormulaAndLoseNoSampleAtTheEdge) {
  // trunc((p + 1) n / 2): -1 is cell 0, +1 would be cell n and counts for n - 1; outside counts for the edge.
  for (const auto& [p, cell] :
       {std::pair{-1.F, 0}, {1.F, 31}, {0.F, 16}, {-0.01F, 15}, {0.99F, 31}, {1.7F, 31}, {-1.7F, 0}}) {
    const float points[] = {p, p, p};
    const auto cells = voxelise(points, 32);
    EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), 0), 1) << p;
    EXPECT_EQ(cells[(cell * 32 + cell) * 32 + cell], 1) << p;
  }
  // Axes in the order of the coordinates.
  const float points[] = {-1, 0, 1};
  EXPECT_EQ(voxelise(points, 4)[(0 * 4 + 2) * 4 + 3], 1);
  // As many cells as there are points in different ones, whatever rotation takes them to the edge.
  Stream stream(3, "voxels");
  std::vector<float> corners;
  for (int k = 0; k < 8; ++k) {
    for (int d = 0; d < 3; ++d) corners.push_back((k >> d & 1) != 0 ? 1.F : -1.F);
  }
  for (int i = 0; i < 20; ++i) {
    auto turned = corners;
    turn(std::span(turned), draw_rotation(Turning::uniform, 2, stream));
    const auto cells = voxelise(turned, 8);
    EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), 0), 8);
  }
  EXPECT_THROW(voxelise(std::vector<float>{NAN, 0, 0}, 8), ShapeError);
}

TEST(Voxels, OfASurfaceHoldThoseOfItsPointsAndNoOthersNear) {
  Stream shapes(5, "shapes"), points(5, "points");
  for (int64_t kind = 0; kind < 10; ++kind) {
    Mesh mesh = solid_shape(kind, shapes);
    fit_into_ball(std::span(mesh.vertices));
    const auto surface = voxelise(mesh, 16);
    const auto sampled = voxelise(sample_surface(mesh, 60000, points), 16);
    int64_t missed = 0, more = 0, all = 0;
    for (size_t i = 0; i < surface.size(); ++i) {
      missed += sampled[i] > surface[i] ? 1 : 0;
      more += surface[i] > sampled[i] ? 1 : 0;
      all += surface[i];
    }
    EXPECT_LE(missed, all / 100) << solid_names[kind];  // on the border of two cells, to rounding
    EXPECT_LE(more, all / 4) << solid_names[kind];      // touched at a corner
  }
}

/// Distance of two grids, relative to the first.
template <class T>
double change(const std::vector<T>& a, const std::vector<T>& b) {
  double off = 0, all = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    off += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    all += std::pow(static_cast<double>(a[i]), 2);
  }
  return std::sqrt(off / all);
}

TEST(PointDensity, IsAGaussianAroundEachPoint) {
  // One point at the centre of cell (2, 0, 3) of 4: the cells' centres are at -0.75, -0.25, 0.25, 0.75.
  const float point[] = {0.25F, -0.75F, 0.75F};
  const auto cells = point_density(point, 4, 0.5);
  const double peak = 16 / (2 * 0.25);
  for (int64_t i = 0; i < 64; ++i) {
    const double x = static_cast<double>(i / 16) - 2, y = static_cast<double>(i / 4 % 4),
                 z = static_cast<double>(i % 4) - 3, r2 = x * x + y * y + z * z;
    const bool near = std::max({std::abs(x), y, -z}) <= 2;  // 4 sigma
    EXPECT_NEAR(cells[i], near ? peak * std::exp(-2 * r2) : 0, 1e-5 * peak) << i;
  }
}

TEST(PointDensity, IsOneOnTheUnitSphereWhateverTheGrid) {
  Stream stream(4, "density");
  for (const auto& [n, sigma, count] : {std::tuple{32, 1.0, 40000}, {32, 1.5, 20000}, {48, 1.0, 80000}}) {
    std::vector<float> points;
    for (int p = 0; p < count; ++p) {
      const double x = stream.normal(), y = stream.normal(), z = stream.normal(), r = std::hypot(x, y, z);
      for (const double c : {x, y, z}) points.push_back(static_cast<float>(c / r));
    }
    const auto cells = point_density(points, n, sigma);
    double sum = 0, found = 0;
    for (int64_t i = 0; i < n * n * n; ++i) {
      const auto centre = [&](int64_t k) { return 2 * (static_cast<double>(k) + 0.5) / n - 1; };
      if (std::abs(std::hypot(centre(i / n / n), centre(i / n % n), centre(i % n)) - 1) < 0.1 / n) {
        sum += cells[i];
        ++found;
      }
    }
    ASSERT_GT(found, 50);
    EXPECT_NEAR(sum / found, 1, 0.06) << n << " " << sigma;
  }
}

TEST(PointDensity, TurnsWithThePointsAsOccupancyDoesNot) {
  // What shells around the origin hold is the same in every direction: sums of squares over them.
  Stream shapes(5, "shapes"), draws(5, "points"), turns(5, "turns");
  double smooth = 0, sharp = 0;
  for (int64_t kind = 0; kind < 10; ++kind) {
    Mesh mesh = solid_shape(kind, shapes);
    fit_into_ball(std::span(mesh.vertices));
    const auto points = sample_surface(mesh, 2048, draws);
    auto turned = points;
    turn(std::span(turned), draw_rotation(Turning::uniform, 2, turns));
    const auto shells = [](const auto& cells) {
      std::vector<double> sums(9);
      for (int64_t i = 0; i < 32 * 32 * 32; ++i) {
        const auto centre = [&](int64_t k) { return static_cast<double>(k) - 15.5; };
        const double r = std::hypot(centre(i / 1024), centre(i / 32 % 32), centre(i % 32));
        const auto shell = static_cast<size_t>(r / 2);
        if (shell + 1 < sums.size()) {
          const double share = r / 2 - static_cast<double>(shell),
                       square = std::pow(static_cast<double>(cells[i]), 2);
          sums[shell] += (1 - share) * square;
          sums[shell + 1] += share * square;
        }
      }
      return sums;
    };
    smooth += change(shells(point_density(points, 32, 1)), shells(point_density(turned, 32, 1))) / 10;
    sharp += change(shells(voxelise(points, 32)), shells(voxelise(turned, 32))) / 10;
  }
  EXPECT_LT(smooth, 0.01);
  EXPECT_GT(sharp, 5 * smooth);
}

TEST(PointDensity, LosesNoPointAndRefusesWhatItCannotSpread) {
  // Outside counts for the place on the surface next to it.
  const float outside[] = {1.7F, 0.1F, -3}, edge[] = {1, 0.1F, -1};
  EXPECT_EQ(point_density(outside, 8, 1), point_density(edge, 8, 1));
  EXPECT_GT(point_density(outside, 8, 1)[(7 * 8 + 4) * 8], 0);
  EXPECT_EQ(point_density(std::vector<float>{}, 2, 1), std::vector<float>(8));
  EXPECT_THROW(point_density(std::vector<float>{NAN, 0, 0}, 8, 1), ShapeError);
  EXPECT_THROW(point_density(std::vector<float>{0, 0}, 8, 1), ShapeError);
  for (const double sigma : {0.0, 0.29, 101.0, std::nan("")}) {
    EXPECT_THROW(point_density(edge, 8, sigma), ShapeError) << sigma;
  }
}

TEST(Surface, PointsAreUniformOverTheArea) {
  // Two triangles of areas 1 and 3.
  const Mesh mesh{{0, 0, 0, 2, 0, 0, 0, 1, 0, 5, 0, 0, 8, 0, 0, 5, 2, 0}, {0, 1, 2, 3, 4, 5}};
  Stream stream(7, "surface");
  const auto points = sample_surface(mesh, 40000, stream);
  double first = 0, x = 0;
  for (size_t i = 0; i < points.size(); i += 3) {
    first += points[i] < 3 ? 1 : 0;
    x += points[i] < 3 ? points[i] : 0;
    EXPECT_EQ(points[i + 2], 0);
  }
  EXPECT_NEAR(first / 40000, 0.25, 0.01);
  EXPECT_NEAR(x / first, 2.0 / 3, 0.02);  // the centre of gravity
  EXPECT_THROW(sample_surface({{0, 0, 0, 1, 0, 0, 2, 0, 0}, {0, 1, 2}}, 1, stream), ShapeError);
}

TEST(Surface, NormalsAreThoseOfTheTrianglesAndDrawNothing) {
  // One in the plane z = 0, one in x = 5, whose corners run the other way round.
  const Mesh mesh{{0, 0, 0, 2, 0, 0, 0, 1, 0, 5, 0, 0, 5, 0, 3, 5, 2, 0}, {0, 1, 2, 3, 4, 5}};
  Stream stream(7, "surface"), again(7, "surface");
  std::vector<float> normals;
  const auto points = sample_surface(mesh, 100, stream, &normals);
  EXPECT_EQ(points, sample_surface(mesh, 100, again));
  ASSERT_EQ(normals.size(), points.size());
  for (size_t i = 0; i < points.size(); i += 3) {
    const bool first = points[i] < 3;
    EXPECT_EQ((std::vector<float>(normals.begin() + i, normals.begin() + i + 3)),
              first ? (std::vector<float>{0, 0, 1}) : (std::vector<float>{-1, 0, 0}));
  }
}

TEST(Surface, TurningsAreRotationsAndZKeepsTheUpwardAxis) {
  Stream stream(9, "turn");
  for (const auto turning : {Turning::none, Turning::z, Turning::so3, Turning::uniform}) {
    for (int up = 0; up < 3; ++up) {
      const Rotation r = draw_rotation(turning, up, stream);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          double product = 0;
          for (int k = 0; k < 3; ++k) product += r[3 * i + k] * r[3 * j + k];
          EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12);
        }
      }
      EXPECT_NEAR(r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                      r[2] * (r[3] * r[7] - r[4] * r[6]),
                  1, 1e-12);
      EXPECT_TRUE(turning != Turning::z || std::abs(r[4 * up] - 1) < 1e-12);
      EXPECT_TRUE(turning != Turning::none || r == (Rotation{1, 0, 0, 0, 1, 0, 0, 0, 1}));
    }
  }
}

TEST(Solids, AreTheSameForTheSameSeedAndFitTheBall) {
  const SolidsMakerOptions o{.points = 256, .noise = 0.02};
  std::set<std::vector<float>> different;
  for (int64_t i = 0; i < 30; ++i) {
    const auto points = make_solid_points(o, "train", i);
    EXPECT_EQ(points, make_solid_points(o, "train", i));
    EXPECT_NE(points, make_solid_points(o, "test", i));
    SolidsMakerOptions other = o;
    other.seed = 1;
    EXPECT_NE(points, make_solid_points(other, "train", i));
    different.insert(points);
    double most = 0;
    for (size_t p = 0; p < points.size(); p += 3) {
      most = worst_of(most, std::hypot(points[p], points[p + 1], points[p + 2]));
    }
    EXPECT_NEAR(most, 1, 1e-5);
  }
  EXPECT_EQ(different.size(), 30u);
}

TEST(Solids, TurnTheSameShapes) {
  // A turned solid has the same lengths of edges as the upright one.
  for (int64_t i = 0; i < 10; ++i) {
    const Mesh a = make_solid({}, "train", i), b = make_solid({.rotate = Turning::uniform}, "train", i);
    ASSERT_EQ(a.triangles, b.triangles);
    const auto length = [](const Mesh& m, size_t k) {
      double square = 0;
      for (int d = 0; d < 3; ++d) {
        const double x = m.vertices[3 * m.triangles[3 * k] + d] - m.vertices[3 * m.triangles[3 * k + 1] + d];
        square += x * x;
      }
      return std::sqrt(square);
    };
    EXPECT_NE(a.vertices, b.vertices);
    for (size_t k = 0; k < a.triangles.size() / 3; ++k) {
      EXPECT_NEAR(length(a, k), length(b, k), 1e-12);
    }
  }
  // And its points, noise and all, are the upright ones', turned around the origin: nothing is moved again.
  for (int64_t i = 0; i < 10; ++i) {
    const auto a = make_solid_points({.points = 64}, "train", i),
               b = make_solid_points({.points = 64, .rotate = Turning::uniform}, "train", i);
    const auto product = [](const std::vector<float>& x, size_t p, size_t q) {
      return x[3 * p] * x[3 * q] + x[3 * p + 1] * x[3 * q + 1] + x[3 * p + 2] * x[3 * q + 2];
    };
    EXPECT_NE(a, b);
    for (size_t p = 0; p < 64; ++p) {
      EXPECT_NEAR(product(a, p, p), product(b, p, p), 1e-5) << solid_names[i];
      EXPECT_NEAR(product(a, p, 0), product(b, p, 0), 1e-5) << solid_names[i];
    }
  }
}

TEST(Solids, WritesBothLayoutsWithAnyNumberOfThreads) {
  const Folder folder;
  const SolidsMakerOptions o{.train = 12, .test = 11, .points = 64};
  SolidsMakerOptions threads = o;
  threads.threads = 3;
  ASSERT_TRUE(make_solids(o, folder / "a"));
  ASSERT_TRUE(make_solids(threads, folder / "b"));
  for (const char* name : {"/train0.h5", "/test0.h5"}) {
    const auto a = read_point_clouds(folder / "a" + name), b = read_point_clouds(folder / "b" + name);
    EXPECT_EQ(a.positions, b.positions);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.labels[0], 0);
    EXPECT_EQ(a.labels[10], 0);
    EXPECT_EQ(a.labels[9], 9);
  }
  threads.format = SolidsFormat::off;
  ASSERT_TRUE(make_solids(threads, folder / "c"));
  EXPECT_EQ(read_off(folder / "c/box/train/box_0002.off"), make_solid(o, "train", 10));
  EXPECT_EQ(read_off(folder / "c/tube/test/tube_0001.off"), make_solid(o, "test", 9));
  EXPECT_THROW(make_solids(threads, folder / "c"), ConfigError);
  SolidsMakerOptions many = o;
  many.train = 100000;
  EXPECT_FALSE(make_solids(many, folder / "d", {{}, [] { return true; }}));
  EXPECT_FALSE(std::filesystem::exists(folder / "d"));
}

}  // namespace shapes_test
}  // namespace weyl
