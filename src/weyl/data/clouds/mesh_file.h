#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A surface of triangles.
struct Mesh {
  std::vector<double> vertices;    // (V, 3)
  std::vector<int64_t> triangles;  // (T, 3), rows of `vertices`
  std::vector<int64_t>
      objects;  // (T), the number of each triangle's object where a file tells objects apart, else none

  int64_t vertex_count() const { return static_cast<int64_t>(vertices.size()) / 3; }
  int64_t triangle_count() const { return static_cast<int64_t>(triangles.size()) / 3; }
  bool operator==(const Mesh&) const = default;
};

/// Reads OFF as text: `OFF`, the numbers of vertices, faces and edges (on the same line in some files of
/// ModelNet, even as `OFF490 518 0`), one vertex a line, one face a line. Faces of more than three vertices
/// become fans; what follows the coordinates or the indices on a line (colours) is dropped, # begins a
/// comment. DataError naming `where` and the line: another header (binary, COFF, 4OFF), fewer lines than
/// announced, coordinates that are not finite, faces of fewer than three vertices, a vertex that is not
/// there.
Mesh parse_off(std::string_view file, std::string_view where);
Mesh read_off(const std::string& path);

/// The vertices alone (V, 3), also of a file without faces; of the faces the lines are counted alone. DataError as above.
std::vector<double> parse_off_vertices(std::string_view file, std::string_view where);
std::vector<double> read_off_vertices(const std::string& path);

/// The text of an OFF file; coordinates with the digits that give them back exactly.
std::string off_text(const Mesh& mesh);

/// Reads the vertices and faces of a Wavefront OBJ: `v x y z` (what follows is passed over), `f a b c ...` with corners
/// `7`, `7/1`, `7/1/3` or `7//3`, counted from 1 or, below 0, back from the last vertex. Faces of more than
/// three corners become fans, # begins a comment, other statements but `o NAME` (an object begins) are passed over. DataError naming `where` and the line:
/// coordinates that are not finite numbers, a corner that is no vertex read so far, a face of fewer than three
/// corners, an object (`o NAME`) of whose vertices no face of the file has any.
Mesh parse_obj(std::string_view file, std::string_view where);
Mesh read_obj(const std::string& path);

/// Reads STL, text (`solid ...`, `facet`, `vertex x y z`, `endsolid`, in small letters or capitals, blanks before them
/// are accepted) or binary (a header of 80 bytes, the number of
/// triangles, 50 bytes each); normals and attributes are passed over. Corners at one place become one
/// vertex: those nearer than 1e-5 of the mesh's size, which is what six digits round to, and nearer than half of its shortest edge. A text may hold several solids: all are read, and where each closes a surface of its own they are `objects`.
/// DataError naming `where`: a file that is neither, one that ends within a triangle or goes on after the last, a
/// triangle outside of a solid, coordinates that are not finite numbers.
Mesh parse_stl(std::string_view file, std::string_view where);
Mesh read_stl(const std::string& path);

/// The endings of mesh files that are read.
inline constexpr std::string_view mesh_endings = ".obj, .off, .ply or .stl";

/// A mesh of any of these formats, by the ending of its name, fit to be a body: DataError naming the file when the
/// format's reader refuses it, and when it has no vertex, no face, or a triangle whose area is (nearly) 0: at most
/// 1e-12 of the square of the mesh's size.
Mesh read_mesh(const std::string& path);

/// What read_mesh asks of a mesh that was read from `where`.
void require_surface(const Mesh& mesh, std::string_view where);

}  // namespace weyl
