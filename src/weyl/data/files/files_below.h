#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weyl {

/// The regular files below a folder for which `wanted` holds, sorted by path; of four folders in one another
/// (train/CLASS/..., CLASS/train/..., sequences of EuRoC), hidden files and folders and those that cannot be read left
/// out, a million at most. Ends where the system says no more of the folder.
std::vector<std::string> files_below(const std::string& folder,
                                     const std::function<bool(const std::string& path)>& wanted);

}  // namespace weyl
