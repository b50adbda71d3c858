// Trained potentials as a Predictor takes them, without a run.
#pragma once

#include "tests/tasks/force_field.h"
#include "weyl/saved/predictor.h"

namespace weyl {

inline SavedModel potential(const char* system, const Dataset& data, const ForceFieldOptions& options = {}) {
  SavedModel saved;
  saved.recipe.model = small(system);
  saved.recipe.task.task = options;
  saved.task = make_task(saved.recipe.task);
  saved.task->fit(data);
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  saved.model = build(saved.recipe.model, saved.task->interface(data.schema()));
  saved.model->train(false);
  return saved;
}

}  // namespace weyl
