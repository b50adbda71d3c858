#pragma once

#include <variant>

#include "weyl/config/fields.h"

namespace weyl {

/// What a trajectory model is asked to predict the displacement beyond.
enum class Baseline { none, straight_line, best_straight_line };
constexpr auto names_of(Baseline) {
  return std::array<std::string_view, 3>{"none", "straight_line", "best_straight_line"};
}

/// Positions now to positions later.
struct TrajectoryOptions {
  static constexpr const char* name_in_config = "trajectory";
  Baseline baseline = Baseline::none;  // the model predicts what this does not; every choice is equivariant
  bool normalise = true;               // outputs in units of the root mean square of what is to be predicted
};
void fields(Fields& f, TrajectoryOptions& o);

using TaskChoice = std::variant<TrajectoryOptions>;
struct TaskOptions {
  TaskChoice task;
};
void fields(Fields& f, TaskOptions& o);

}  // namespace weyl
