#pragma once

#include <string>
#include <vector>

#include "weyl/app/verbs/verbs.h"

namespace weyl {

/// The models of a cross-validation, fold by fold, where `path` is the folder of one: the last weights of each run, which are those
/// that it measures. Else `path` alone. DataError: a fold is not trained to its end (its run has no result.json).
std::vector<std::string> models_of_folds(const std::string& path, const Systems& systems);

}  // namespace weyl
