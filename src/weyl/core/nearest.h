#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weyl {

/// The nearest of `candidates` by edit distance (swaps count one), or empty when none is near enough to be
/// meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// The same where many words might be meant: a slip of one letter in four at most, and no beginnings.
std::string nearest_spelling(std::string_view word, std::span<const std::string> candidates);

}  // namespace weyl
