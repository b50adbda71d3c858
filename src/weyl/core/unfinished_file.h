#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weyl {

/// The names of files in the making, PATH.<process>-<n>.tmp: what AtomicFile writes to before it renames, and what a
/// killed process leaves behind.
std::string unfinished_name(const std::string& path, unsigned number);

/// The number of the process that such a name has in it; nothing for any other name.
std::optional<long> process_of_unfinished(std::string_view name);

}  // namespace weyl
