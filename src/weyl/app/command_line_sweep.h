#pragma once

#include <vector>

#include "weyl/app/command_line_verbs.h"

namespace weyl {

/// `plan` and `run`, below `weyl scale`.
std::vector<Verb> add_sweep_verbs(CLI::App& scale);

}  // namespace weyl
