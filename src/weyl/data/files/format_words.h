#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weyl {

/// What a path may be given for.
enum class FormatUse { open, inspect, convert, split };

/// The formats of formats.h that can be used so, in their order, each as messages and help pages say it:
/// "poses (.txt, .csv, .tum, .kitti)"; of conversions with what they become: "poses (...) to .safetensors",
/// of splits with the ending of the parts.
std::vector<std::string> formats_for(FormatUse use);

/// The same in one line: "a, b or c", where `last` may follow as one more.
std::string list_of_formats(FormatUse use, std::string_view last = {});

/// The options of the conversions that have some, as help pages list them, by what is converted.
std::vector<std::pair<std::string, std::string>> conversion_options();

}  // namespace weyl
