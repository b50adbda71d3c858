#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weyl {

/// What a path may be given for.
enum class FormatUse { open, inspect, convert, split };

/// The formats of formats.h that can be used in this way, in the order of that list, in the words of messages and help
/// pages: "poses (.txt, .csv, .tum, .kitti)". For a conversion the words also say what the format becomes, "poses (...)
/// to .safetensors"; for a split, the ending of the parts.
std::vector<std::string> formats_for(FormatUse use);

/// The same in one line, "a, b or c"; `last`, if given, is appended as one more.
std::string list_of_formats(FormatUse use, std::string_view last = {});

/// What is converted, with the options of its conversion as help pages list them, for every conversion that has
/// options.
std::vector<std::pair<std::string, std::string>> conversion_options();

}  // namespace weyl
