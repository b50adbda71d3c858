// Trained potentials as a Predictor takes them, without a run.
#pragma once

#include "tests/tasks/force_field.h"
#include "weyl/saved/predictor.h"

namespace weyl {

inline Subject potential(const char* system, const Dataset& data, const ForceFieldOptions& options = {}) {
  Subject subject;
  subject.recipe.model = small(system);
  subject.recipe.task.task = options;
  subject.schema = data.schema();
  subject.task = make_task(subject.recipe.task);
  subject.task->fit(data);
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  subject.model = build(subject.recipe.model, subject.task->interface(data.schema()));
  subject.model->train(false);
  subject.trained = true;
  return subject;
}

}  // namespace weyl
