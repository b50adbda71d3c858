#pragma once

#include <vector>

#include "weyl/app/command_line_verbs.h"

namespace weyl {

/// Adds `weyl data` with its verbs, whose help pages list makers and file formats.
std::vector<Verb> add_data_verbs(CLI::App& root);

}  // namespace weyl
