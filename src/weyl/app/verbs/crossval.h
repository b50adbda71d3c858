#pragma once

#include <string>
#include <vector>

#include "weyl/app/verbs/verbs.h"

namespace weyl {

/// The run folders of a cross-validation, fold by fold, where `path` is the folder of one; else `path` alone. DataError: a fold has
/// no run folder with a best or last model yet.
std::vector<std::string> runs_of_folds(const std::string& path, const Systems& systems);

}  // namespace weyl
