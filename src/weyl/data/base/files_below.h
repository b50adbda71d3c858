#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weyl {

/// The regular files in a folder and up to three levels of folders below it (train/CLASS/..., CLASS/train/...,
/// sequences of EuRoC) for which `wanted` holds, sorted by path. At most a million. Hidden files and folders, and
/// folders that cannot be read, are left out. Where the system reports an error, the search ends without one.
std::vector<std::string> files_below(const std::string& folder,
                                     const std::function<bool(const std::string& path)>& wanted);

/// The name of a file without folder and ending, .gz included: `BRATS_001` of imagesTr/BRATS_001.nii.gz.
std::string stem_of(const std::string& path);

}  // namespace weyl
