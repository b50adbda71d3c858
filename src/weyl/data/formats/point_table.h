#pragma once

#include <cstdint>
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

}  // namespace weyl
