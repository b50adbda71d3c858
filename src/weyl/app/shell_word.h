#pragma once

#include <string>

namespace weyl {

/// A word of a command, a path say, as a shell takes it as one: in single quotes where a shell would read it otherwise.
std::string shell_word(const std::string& word);

}  // namespace weyl
