#pragma once

#include <string>

namespace weyl {

/// What LibTorch this library was built with, "2.13.0".
std::string built_with_torch();

/// What the LibTorch says that is in the process, by the file beside it (a wheel's version.py, an archive's build-version),
/// without what follows a plus sign; empty: it has none.
std::string loaded_torch();

/// ConfigError, one line, where they differ: symbols may be missing, or be there and mean something else.
void require_own_torch();

}  // namespace weyl
