#include "weyl/models/work.h"

#include "weyl/models/model.h"

namespace weyl {

Work work_of_token(const Model& model) {
  if (const auto* states = dynamic_cast<const StatesWork*>(&model)) {
    return states->work_of_token();
  }
  const double forward = model.flops_per_token().forward;
  return {forward, 2 * forward};
}

Work dense_work_of_token(const Model& model) {
  const auto* states = dynamic_cast<const StatesWork*>(&model);
  return states != nullptr ? states->dense_work_of_token() : work_of_token(model);
}

void note_objects(Model& model, const Input& input) {
  auto* states = dynamic_cast<StatesWork*>(&model);
  const auto* points = std::get_if<Points>(&input);
  if (states != nullptr && points != nullptr && states->looks_inside_objects() &&
      points->objects.rows() > 0) {
    const Segments& objects = points->objects;
    states->set_object_nodes(static_cast<double>(objects.pairs()) / static_cast<double>(objects.rows()));
  }
}

}  // namespace weyl
