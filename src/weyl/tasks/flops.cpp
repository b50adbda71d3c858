#include "weyl/tasks/flops.h"

namespace weyl {
namespace {

bool through_derivatives(const Task* task) {
  return task != nullptr && !task->differentiated_by().empty();
}

}  // namespace

double training_flops(const Model& model, const Task* task, double tokens) {
  const Work work = model.work_of_token();
  return (through_derivatives(task) ? 6 * work.forward : work.training()) * tokens;
}

double predicting_flops(const Model& model, const Task* task, double tokens) {
  return (through_derivatives(task) ? 3 : 1) * model.work_of_token().forward * tokens;
}

}  // namespace weyl
