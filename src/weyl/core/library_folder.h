#pragma once

#include <filesystem>

namespace weyl {

/// The folder of the library libweyl_base that this process runs, always absolute: what belongs to weyl and is opened
/// while it runs (libweyl_rdkit.so) stands there, and is opened by its whole path, never by
/// a name that the loader would search. ConfigError: the loader found the library by a relative path, as a relative
/// entry of LD_LIBRARY_PATH gives it, so that another current folder would mean another file.
std::filesystem::path library_folder();

/// Asked before a library is opened while the program runs. ConfigError: LD_LIBRARY_PATH has an empty or a relative
/// entry, so that the loader would look in the current folder for the library or for one that it needs. (The loader reads
/// that variable once, when the program starts: to change it here would change nothing.)
void require_absolute_library_path();

}  // namespace weyl
