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

/// The missing element of a sequence of poses, from the others in any order.
struct CompletionOptions {
  static constexpr const char* name_in_config = "completion";
  double gap_weight = 1, pose_weight = 1;  // of the two parts of the loss
};
void fields(Fields& f, CompletionOptions& o);

using TaskChoice = std::variant<TrajectoryOptions, CompletionOptions>;
struct TaskOptions {
  TaskChoice task;
};
void fields(Fields& f, TaskOptions& o);

}  // namespace weyl
