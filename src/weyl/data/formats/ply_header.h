#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the header of a PLY file says (formats/ply.h).
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
