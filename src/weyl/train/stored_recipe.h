#pragma once

#include <string>

#include "weyl/train/recipe.h"

namespace weyl {

/// Visits a recipe that a training wrote, all its keys resolved, in this version or an earlier one: a key that it lacks
/// was not there yet, and gets the value that the model had then (`as_stored` beside a system's options).
void fields_of_stored(Fields& f, Recipe& recipe);

/// Whether a path is the config.toml of a run, in which trainings write such recipes, beside their environment.json.
bool is_stored_recipe(const std::string& path);

}  // namespace weyl
