#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/base/file_format.h"
#include "weyl/data/base/inspection.h"

namespace weyl {

/// Takes what was found in a path, split by split.
using AnyInspection = std::variant<Inspection, FrameInspection>;
using AnyReport = std::function<void(const std::string& split, const AnyInspection& found)>;

/// Opens what a path holds, for inspection: one file, as ("", set), or the splits of a folder by name. Values of
/// carrier tensor files may be NaN here. DataError: see open_file; for a folder that no format takes, with what it
/// seems to be (advice.h).
NamedSets open_for_inspection(const std::string& path);

/// Inspects what a path holds, whatever its format (formats.h), one split after the other. In a folder, each file that
/// cannot be read becomes a warning of the first split; DataError where no file can be read.
void inspect_path(const std::string& path, const AnyReport& report);

/// Inspects the files of a folder and its subfolders one by one, because the folder as a whole cannot be read (`fault`
/// says why). A file belongs to the split that its name or a folder above it says, else to "". The first set carries
/// the warnings: `fault`, each file that cannot be read, and each file whose carrier is not that of the files before
/// it, which is left out. Empty: no file can be read, or no format takes any.
std::vector<std::pair<std::string, Inspection>> inspect_files(const std::string& folder,
                                                              const std::string& fault);

}  // namespace weyl
