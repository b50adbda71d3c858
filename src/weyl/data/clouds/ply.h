#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/point_text.h"

/// What the header of a PLY file says (clouds/ply.h).
namespace weyl::ply {

enum class Number { i8, u8, i16, u16, i32, u32, f32, f64 };

/// Bytes of one.
size_t size_of(Number type);

struct Property {
  std::string name;
  Number type = Number::f32;
  std::optional<Number> count;  // of a list, the type of its length
};

struct Element {
  std::string name;
  uint64_t rows = 0;
  std::vector<Property> properties;

  bool has_lists() const;
  /// Bytes of a binary row, at least: lists may be empty.
  uint64_t row_bytes() const;
};

enum class Encoding { ascii, little, big };

struct Header {
  Encoding encoding = Encoding::ascii;
  std::vector<Element> elements;  // with a vertex or more that have the numbers x, y and z
  size_t bytes = 0;               // of the header itself, with its last line end,
  int64_t lines = 0;              // and its lines
};

/// The header at the beginning of a file. DataError naming `where` and the line: see parse_ply.
Header parse_header(std::string_view file, std::string_view where);

bool blank(char c);

}  // namespace weyl::ply

namespace weyl {

/// Reads the vertices of PLY (ascii 1.0, binary_little_endian 1.0, binary_big_endian 1.0): every property of the
/// element `vertex` that is one number becomes a column of its name; lists among them, and all other elements (faces,
/// edges, ...), are passed over, but must be there. Memory for the numbers is taken once it is known that the file
/// holds as many.
///
/// DataError naming `where` and the line, or in binary files the row: another header, no element vertex or none of x,
/// y and z, a property twice, a file that ends before its last element or goes on after it (a binary file whose line
/// ends were changed does), a coordinate that is not finite, what is no number, another number of them on a line.
/// MemoryError: more than there is.
PointTable parse_ply(std::string_view file, std::string_view where);
PointTable read_ply(const std::string& path);

/// Points with what a model says of each.
struct ClassifiedPoints {
  std::span<const double> positions;     // (P, 3)
  std::span<const int64_t> classes;      // (P), 0 .. count - 1
  std::span<const float> probabilities;  // (P, count), or none
  int64_t count = 0;                     // of classes
  std::vector<std::string> names;        // of the classes for comments, or none
};

/// The bytes of a binary_little_endian PLY of them: `x`, `y`, `z` (double), `red`, `green`, `blue` (uchar) by the class, `class`
/// (int) and, where there are, `p_0`, `p_1`, ... (float). A comment for each class has its number, colour and name.
/// ShapeError: spans that do not fit, a class outside 0 .. count - 1.
std::string ply_of(const ClassifiedPoints& points);
/// The colour of a class: those of the first ten are Tableau's, further ones go round the circle of hues by the golden angle.
std::array<uint8_t, 3> colour_of_class(int64_t number);

/// The same vertices with the faces: the list `vertex_indices` or `vertex_index` of the element `face`, of more than three
/// corners as a fan; without such a list the mesh has no faces. DataError as above, and: a face of fewer than 3
/// corners, a corner that is no vertex.
Mesh parse_ply_mesh(std::string_view file, std::string_view where);
Mesh read_ply_mesh(const std::string& path);

}  // namespace weyl
