#pragma once

#include <string>

namespace weyl {

/// The absolute path of an executable file `name` (no slash), from the absolute entries of PATH, the first that has
/// one; empty: none has. Empty and relative entries, by which a shell runs what lies in the current folder, are
/// passed over: a folder that someone else made must not run anything. PATH not set: the system's own folders.
std::string find_program(const std::string& name);

}  // namespace weyl
