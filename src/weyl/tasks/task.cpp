#include "weyl/tasks/task.h"

#include <ATen/ops/argmax.h>

#include "weyl/core/check.h"
#include "weyl/tasks/classification.h"
#include "weyl/tasks/completion.h"
#include "weyl/tasks/force_field.h"
#include "weyl/tasks/pose_correction.h"
#include "weyl/tasks/property.h"
#include "weyl/tasks/registration.h"
#include "weyl/tasks/relaxation.h"
#include "weyl/tasks/rigid_motion.h"
#include "weyl/tasks/segmentation.h"
#include "weyl/tasks/trajectory.h"

namespace weyl {

Tensor Task::likeliest(const Tensor& probabilities) const {
  return at::argmax(probabilities, 1, /*keepdim=*/true);
}

bool through_derivatives(const Task* task) {
  return task != nullptr && !task->differentiated_by().empty();
}

double training_flops(const Model& model, const Task* task, double tokens) {
  const Work work = model.work_of_token();
  return (through_derivatives(task) ? 6 * work.forward : work.training()) * tokens;
}

double predicting_flops(const Model& model, const Task* task, double tokens) {
  return (through_derivatives(task) ? 3 : 1) * model.work_of_token().forward * tokens;
}

namespace {

std::unique_ptr<Task> make(const TrajectoryOptions& o) {
  return std::make_unique<Trajectory>(o);
}
std::unique_ptr<Task> make(const CompletionOptions& o) {
  return std::make_unique<Completion>(o);
}
std::unique_ptr<Task> make(const ClassificationOptions& o) {
  return std::make_unique<Classification>(o);
}
std::unique_ptr<Task> make(const SegmentationOptions& o) {
  return std::make_unique<Segmentation>(o);
}
std::unique_ptr<Task> make(const ForceFieldOptions& o) {
  return std::make_unique<ForceField>(o);
}
std::unique_ptr<Task> make(const PropertyOptions& o) {
  return std::make_unique<Property>(o);
}

std::unique_ptr<Task> make(const RigidMotionOptions& o) {
  return std::make_unique<RigidMotion>(o);
}
std::unique_ptr<Task> make(const RelaxationOptions& o) {
  return std::make_unique<Relaxation>(o);
}
std::unique_ptr<Task> make(const PoseCorrectionOptions& o) {
  return std::make_unique<PoseCorrection>(o);
}
std::unique_ptr<Task> make(const RegistrationOptions& o) {
  return std::make_unique<Registration>(o);
}

}  // namespace

std::unique_ptr<Task> make_task(const TaskOptions& options) {
  return std::visit([](const auto& o) { return make(o); }, options.task);
}

std::string Task::wants(const Quantity& wanted) const {
  return text("a ", kind_names[static_cast<int>(wanted.kind)], " of ",
              level_names[static_cast<int>(wanted.level)], " level with ",
              wanted.channels == 0 ? "any number of" : std::to_string(wanted.channels), " channel(s)");
}

void require_labels(const Task& task, const Schema& data, bool only_measured) {
  std::string has;
  for (const auto& q : data.labels) {
    has += (has.empty() ? "'" : ", '") + q.name + "'";
  }
  for (const auto& wanted : task.labels()) {
    const Quantity* found = find_quantity(data.labels, wanted.name);
    if (found == nullptr && only_measured && !data.left_out.contains(wanted.name) &&
        task.measures_without(wanted)) {
      continue;
    }
    require<DataError>(found != nullptr, "task ", task.name(), ": needs the label '", wanted.name,
                       "', the data set has ", has.empty() ? "none" : has,
                       also_in_files(data, "; its files also have "));
    require<DataError>(task.takes(wanted, *found), "task ", task.name(), ": the label '", wanted.name,
                       "' must be ", task.wants(wanted), ", the data set's is a ",
                       kind_names[static_cast<int>(found->kind)], " of ",
                       level_names[static_cast<int>(found->level)], " level with ", found->channels);
  }
}

}  // namespace weyl
