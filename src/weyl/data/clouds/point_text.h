#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Points of one cloud as rows of named columns of numbers: "x", "y", "z" and what there is beside them.
struct PointTable {
  std::vector<std::string>
      names;  // of the columns, each once; of text without names beyond x, y, z: "column 4", ...
  std::vector<bool> bytes;     // of the columns: whole numbers 0 .. 255 by their type, such as colours
  std::vector<double> values;  // (rows, columns), row-major
  int64_t rows = 0;

  int64_t columns() const { return static_cast<int64_t>(names.size()); }
  /// The column of a name, -1 where there is none.
  int64_t find(std::string_view name) const {
    for (size_t k = 0; k < names.size(); ++k) {
      if (names[k] == name) {
        return static_cast<int64_t>(k);
      }
    }
    return -1;
  }
};

/// Reads points as text (.xyz, .txt, .csv, .pts, .asc): a point a line, its numbers split by commas, or by blanks and
/// tabs, as many on every line. What the columns are is said by, in this order: `columns`; a first line of names, of
/// which none is a number; a comment above the points that has as many words as there are columns, x, y and z among
/// them. A file without names has x, y, z first and `column 4`, `column 5`, ... behind them. Names are taken in
/// lower case, without quotes. Comments begin with # or //; CRLF, empty lines and a byte order mark are accepted. The
/// first line may be the number of points.
///
/// DataError naming `where` and the line: no point, names without x, y or z or with one of them twice, names other than
/// `columns`, another number of columns than before or than there are names, fewer than 3 or more than 4096, what is no
/// number, a coordinate that is not finite, another number of points than the first line says, frames of atoms (a count, a
/// comment, which may be empty, lines of symbols), lines that end by a carriage return alone. MemoryError: more than there is.
PointTable parse_point_text(std::string_view file, std::string_view where,
                            std::span<const std::string> columns = {});
PointTable read_point_text(const std::string& path, std::span<const std::string> columns = {});

/// Whether a file begins as such points do: names with x, y, z, the number of points, or at least 3 numbers, but not the
/// 8 or 12 of a pose nor nanoseconds before more of them (poses/pose_file.h). None: it begins with no numbers.
std::optional<bool> looks_like_points(const std::string& path);

/// Whether it does, with the number of points before them: no other file of numbers begins so.
bool counts_points(const std::string& path);

}  // namespace weyl
