#pragma once

#include <vector>

#include "weyl/app/command_line_verbs.h"

namespace weyl {

/// Adds `weyl scale plot` and `weyl scale report`.
std::vector<Verb> add_scale_figure_verbs(CLI::App& scale);

}  // namespace weyl
