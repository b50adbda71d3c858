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

}  // namespace weyl
