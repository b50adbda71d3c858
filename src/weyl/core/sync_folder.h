#pragma once

#include <string>

namespace weyl {

/// Puts the names in a folder ("": the current one) on the disk: a file or folder that was made or renamed in it
/// is still there after a power failure. False when the disk fails; a file system that cannot sync folders, and a
/// folder that may not be read, count as done.
bool sync_folder(const std::string& folder);

}  // namespace weyl
