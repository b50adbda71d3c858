#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weyl {

/// A foreign text as it may stand in an error line: printable ASCII only (other bytes as \xNN), at most
/// `most` of its bytes followed by "...".
std::string printable(std::string_view text, size_t most = 80);

/// The same in single quotes.
std::string quote(std::string_view text, size_t most = 80);

/// "[2, 3]", at most eight numbers followed by "...".
std::string shape_text(std::span<const int64_t> shape);

}  // namespace weyl
