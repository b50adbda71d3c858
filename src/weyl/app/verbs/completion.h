#pragma once

#include <string>
#include <string_view>

namespace weyl {

/// The script with which a shell completes verbs, flags and their words: for `bash` to source, for `zsh` as `_weyl` on
/// its fpath, for `fish` as `weyl.fish`. It is made from the program's own verbs, so it knows what --help knows, and
/// starts nothing. ConfigError for another shell.
std::string completion_script(std::string_view shell);

}  // namespace weyl
