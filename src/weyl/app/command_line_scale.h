#pragma once

#include <vector>

#include "weyl/app/command_line_verbs.h"

namespace weyl {

/// Adds `weyl scale` with its verbs.
std::vector<Verb> add_scale_verbs(CLI::App& root);

}  // namespace weyl
