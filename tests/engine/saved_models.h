// Models on disk, whose files say their whole recipe.
#pragma once

#include <ATen/core/grad_mode.h>

#include <string>

#include "tests/data/folder.h"
#include "tests/predict/potentials.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// Writes a model into the folder under a name of its own, its weights `times` what they were.
inline std::string saved_in(const Folder& folder, const std::string& name, SavedModel saved,
                            double times = 1) {
  const std::string path = folder / (name + ".safetensors");
  Recipe recipe;
  recipe.model = saved.recipe.model;
  recipe.task = saved.recipe.task;
  if (saved.task == nullptr) {
    recipe.task = {};
  }
  saved.recipe = saved_recipe(recipe);
  saved.interface = saved.model->interface;
  const at::NoGradGuard no_grad;
  for (const Parameter& p : saved.model->parameters()) {
    p.tensor.detach().mul_(times);
  }
  save_model(path, saved, Existing::keep);
  return path;
}

}  // namespace weyl
