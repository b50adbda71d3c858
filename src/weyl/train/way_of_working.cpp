#include "weyl/train/way_of_working.h"

#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"

namespace weyl {
namespace {

std::string_view linear_form_name(platonic::LinearForm form) {
  return platonic::names_of(form)[static_cast<size_t>(form)];
}

}  // namespace

bool is_way_of_working(std::string_view key) {
  return key == "model.platonic.linear";
}

std::string take_way_of_working(const ModelOptions& from, ModelOptions& into) {
  const auto* source = from.system.get_if<platonic::Options>();
  auto* target = into.system.get_if<platonic::Options>();
  if (source == nullptr || target == nullptr || source->linear == target->linear) {
    return "";
  }
  require<ConfigError>(source->linear != platonic::LinearForm::automatic,
                       "model.platonic.linear: must be dense or spectral of a run that goes on, got auto");
  const std::string line =
      text("linear maps are worked out as model.platonic.linear = \"", linear_form_name(source->linear),
           "\" from here on, they were \"", linear_form_name(target->linear),
           "\": the same function of the same weights, but the run ends with other bits");
  target->linear = source->linear;
  return line;
}

}  // namespace weyl
