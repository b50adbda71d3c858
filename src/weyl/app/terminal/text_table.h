#pragma once

#include <string>
#include <vector>

namespace weyl {

/// Characters of UTF-8 text: the bytes that begin one.
size_t characters(const std::string& words);

/// Rows of cells, as many in each, as lines: columns two blanks apart, the first one to the left, numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace weyl
