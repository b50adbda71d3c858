// Meshes of OBJ, PLY, OFF and STL: a tetrahedron of each, and what is refused (tools/goldens/broken_bodies.py).
#include "weyl/data/clouds/mesh_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/ply.h"

namespace weyl {
namespace mesh_file_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

/// The corners of the triangles, by their coordinates.
std::vector<double> corners_of(const Mesh& mesh) {
  std::vector<double> corners;
  for (const int64_t at : mesh.triangles) {
    corners.insert(corners.end(), mesh.vertices.begin() + 3 * at, mesh.vertices.begin() + 3 * at + 3);
  }
  return corners;
}

TEST(MeshFiles, AreTheSameTetrahedron) {
  const Mesh expected =
      parse_off("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n", "off");
  for (const char* name : {"tetrahedron.obj", "tetrahedron_back.obj", "tetrahedron.ply",
                           "tetrahedron_binary.ply", "tetrahedron.stl", "tetrahedron_text.stl"}) {
    const Mesh mesh = read_mesh(fixtures + "meshes/" + name);
    EXPECT_EQ(mesh.vertex_count(), 4) << name;
    EXPECT_EQ(corners_of(mesh), corners_of(expected)) << name;
  }
  const Mesh off = read_mesh(fixtures + "shapes/tetrahedron.off");
  EXPECT_EQ(off.triangle_count(), 4);
}

TEST(MeshFiles, CutFacesIntoFans) {
  const std::string quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
  EXPECT_EQ(parse_obj(quad, "quad").triangles, (std::vector<int64_t>{0, 1, 2, 0, 2, 3}));
  EXPECT_TRUE(parse_obj("o one\n" + quad, "quad").objects.empty());
  const Mesh two = parse_obj("o one\n" + quad + "o two\n" + quad, "quad");
  EXPECT_EQ(two.objects, (std::vector<int64_t>{1, 1, 2, 2}));
  const std::string ply =
      "ply\nformat ascii 1.0\nelement face 1\nproperty uchar red\nproperty list uchar int vertex_index\n"
      "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
      "7 4 0 1 2 3\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
  EXPECT_EQ(parse_ply_mesh(ply, "ply").triangles, (std::vector<int64_t>{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(parse_ply_mesh(ply, "ply").vertex_count(), 4);
}

/// A closed tetrahedron as a solid of text.
std::string solid_of(const std::string& name, double shift) {
  const Mesh mesh =
      parse_off("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n", "off");
  std::string result = "solid " + name + "\n";
  for (size_t k = 0; k < mesh.triangles.size(); ++k) {
    const double* p = &mesh.vertices[3 * mesh.triangles[k]];
    result += k % 3 == 0 ? "facet normal 0 0 0\nouter loop\n" : "";
    result += text("vertex ", p[0] + shift, " ", p[1], " ", p[2], "\n");
    result += k % 3 == 2 ? "endloop\nendfacet\n" : "";
  }
  return result + "endsolid " + name + "\n";
}

TEST(MeshFiles, OfStlMayHoldSeveralSolids) {
  const Mesh reported = read_mesh(fixtures + "reports/06_two_solids.stl");  // the numbers are trimesh's
  EXPECT_EQ(reported.vertex_count(), 16);
  EXPECT_EQ(reported.triangle_count(), 24);
  // A name is no statement, a file may have blanks and a byte order mark in front, and capitals.
  std::string capitals = solid_of("vertex endsolid", 3);
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
  const Mesh two = parse_stl("\xEF\xBB\xBF \n\t" + solid_of("vertex", 0) + "\n" + capitals, "two");
  EXPECT_EQ(two.vertex_count(), 8);
  EXPECT_EQ(two.objects, (std::vector<int64_t>{1, 1, 1, 1, 2, 2, 2, 2}));
  // Solids that touch are still two; the patches of one surface are not.
  EXPECT_EQ(parse_stl(solid_of("a", 0) + solid_of("b", 1), "touching").objects.size(), 8u);
  std::string patches = solid_of("a", 0);
  const std::string half = "endloop\nendfacet\n";
  const size_t middle = patches.find(half, patches.find(half) + 1) + half.size();
  patches.insert(middle, "endsolid a\nsolid b\n");
  const Mesh one = parse_stl(patches, "patches");
  EXPECT_EQ(one.vertex_count(), 4);
  EXPECT_TRUE(one.objects.empty());
  EXPECT_TRUE(parse_stl(solid_of("a", 0), "one").objects.empty());
}

// Programs that compute a corner for each of its triangles write it with other last digits.
TEST(MeshFiles, OfStlWeldCornersToRounding) {
  const std::string corner = "vertex 1 0 0";
  const auto vertices_of = [&](double off, double size = 1) {
    std::string file = solid_of("a", 0);
    int count = 0;  // of the corners that are (1, 0, 0), each a little elsewhere
    for (size_t at = file.find(corner); at != std::string::npos; at = file.find(corner, at + 1)) {
      file.replace(at, corner.size(), "vertex " + std::to_string(size + count++ * off) + " 0 0");
    }
    return parse_stl(file, "a").vertex_count();
  };
  EXPECT_EQ(vertices_of(1e-6), 4);
  EXPECT_EQ(vertices_of(-4e-6), 4);
  EXPECT_EQ(vertices_of(1e-3), 6);  // no rounding
  // Less than half of the shortest edge: a small triangle of a large mesh keeps its corners.
  EXPECT_EQ(vertices_of(0, 1e6), 4);
  const std::string small =
      "solid a\nfacet\nvertex 0 0 0\nvertex 1e-6 0 0\nvertex 0 1e-6 0\nendfacet\n"
      "facet\nvertex 5 5 5\nvertex 6 5 5\nvertex 5 6 5\nendfacet\nendsolid\n";
  EXPECT_EQ(parse_stl(small, "b").vertex_count(), 6);
}

TEST(MeshFiles, OfStlNameWhatIsOutOfPlace) {
  const auto fault = [](const std::string& file) {
    return message_of<DataError>([&] { parse_stl(file, "f.stl"); });
  };
  const std::string solid = solid_of("a", 0), open = solid.substr(0, solid.find("endsolid"));
  EXPECT_EQ(fault(solid + "facet\nvertex 0 0 0\n"),
            "f.stl: triangle 4 must stand between solid and endsolid");
  EXPECT_EQ(fault(open + solid), "f.stl: solid 1 must end with endsolid before the next begins");
  EXPECT_EQ(fault(solid + open), "f.stl: must end with endsolid, ends after 8 triangles");
  EXPECT_EQ(fault(solid + "endsolid\n"),
            "f.stl: endsolid must end a solid, it stands after triangle 4 where none has begun");
}

TEST(MeshFiles, MayHaveBlanksBeforeSolidAndVerticesInAnObjectOfTheirOwn) {
  for (const char* name : {"16a_blank_before_solid.stl", "16c_vertices_in_an_object_of_their_own.obj"}) {
    const Mesh cube = read_mesh(fixtures + "reports/" + name);  // the numbers are trimesh's
    EXPECT_EQ(cube.vertex_count(), 8) << name;
    EXPECT_EQ(cube.triangle_count(), 12) << name;
    EXPECT_TRUE(cube.objects.empty()) << name;
  }
  const std::string points = "o points\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\n";
  EXPECT_EQ(parse_obj(points + "o a\nf 1 2 3\no b\nf 2 3 4\n", "f").objects, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(message_of<DataError>([&] { parse_obj("o lost\nv 0 0 0\n" + points + "f 2 3 4\n", "f"); }),
            "f: line 1: object 'lost' must have faces, it has vertices alone");
}

TEST(MeshFiles, AreRefusedWithOneLine) {
  expect_refusals(
      "mesh",
      {
          {"empty_obj", "the mesh must have vertices, it is empty"},
          {"no_faces_obj", "the mesh must have faces, it has none"},
          {"object_without_faces_obj", "line 10: object 'two' must have faces, it has vertices alone"},
          {"corner_beyond_obj",
           "line 5: corners must be vertices 1 .. 4 (or -1 .. back from the last), got 5"},
          {"corner_zero_obj", "got 0"},
          {"corner_back_obj", "got -5"},
          {"corner_word_obj", "line 2: a corner must be a whole number, got 'a'"},
          {"two_corners_obj", "line 5: a face must have at least 3 corners, got 2"},
          {"flat_obj", "triangle 1 must have an area, it has none (corners 0, 0, 1)"},
          {"nan_vertex_obj", "line 1: coordinates must be finite, got nan"},
          {"two_numbers_obj", "line 1: a vertex must have three numbers, got the end of the line"},
          {"words_obj", "line 1: a vertex must have three numbers, got 'zero'"},
          {"empty_stl", "must begin with solid (text) or have a header of 84 bytes (binary)"},
          {"cut_stl", "must have 50 bytes for each of its 4 triangles after a header of 84, has 274 bytes"},
          {"more_stl", "has 285 bytes"},
          {"huge_count_stl", "its 4294967295 triangles"},
          {"nan_corner_stl", "triangle 2: coordinates must be finite, got nan"},
          {"no_triangles_stl", "the mesh must have vertices, it is empty"},
          {"no_end_stl", "must end with endsolid, ends after 4 triangles"},
          {"four_corners_stl", "triangle 0 must have 3 corners, has more"},
          {"word_stl", "triangle 0: coordinates must be finite numbers, got 'one'"},
          {"no_faces_ply", "the mesh must have faces, it has none"},
          {"corner_beyond_ply", "corners must be vertices 0 .. 3, triangle 0 has 4"},
          {"negative_corner_ply", "corners must be vertices 0 .. 3, triangle 0 has -1"},
          {"two_corners_ply", "face 0 must have at least 3 corners, has 2"},
          {"two_corners_binary_ply", "face 0 must have at least 3 corners, has 2"},
          {"cut_face_ply", "there is none for 'vertex_indices'"},
          {"flat_ply", "triangle 0 must have an area, it has none (corners 0, 1, 1)"},
          {"mesh_step", "a mesh must be of .obj, .off, .ply or .stl"},
      },
      [](const std::string& path) { read_mesh(path); });
}

}  // namespace mesh_file_test
}  // namespace weyl
