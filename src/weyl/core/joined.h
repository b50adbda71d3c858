#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weyl {

/// "a, b, c": words as they stand, with a text between each two. Nothing of none.
std::string joined(std::span<const std::string> words, std::string_view between = ", ");

/// The same of foreign words, each as it may stand in a line (`printable`, core/quote.h).
std::string joined_printable(std::span<const std::string> words);

}  // namespace weyl
