#pragma once

#include <filesystem>

namespace weyl {

/// The folder of the library libweyl_base that this process runs, always absolute: what belongs to weyl and is opened
/// while it runs (libweyl_rdkit.so) stands there, and is opened by its whole path, never by
/// a name that the loader would search. ConfigError: the loader found the library by a relative path, as a relative
/// entry of LD_LIBRARY_PATH gives it, so that another current folder would mean another file.
std::filesystem::path library_folder();

}  // namespace weyl
