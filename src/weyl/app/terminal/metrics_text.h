#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weyl/core/json.h"
#include "weyl/saved/evaluate.h"

namespace weyl {

/// What everyone who uses a task's predictions must know, on stderr, a line each.
void say_notes(const std::vector<std::string>& notes);

/// {name: {value, unit}}; {classes, counts}, rows the truth; {by: [{name, metrics}]}; {samples, seconds,
/// metrics, confusion, breakdowns}.
Json to_json(const Metrics& metrics);
Json to_json(const Confusion& confusion);
Json to_json(const std::vector<Breakdown>& breakdowns);
Json to_json(const Evaluation& evaluation);

/// For people: up to three metrics (shown_metrics) in a row of text of at most `width` characters, the first even
/// where it is longer.
std::string epoch_metrics_text(const Metrics& metrics, const std::vector<std::string>& headlines,
                               int64_t width);

/// For people: the metrics in a row of text, "mse 0.0123 Å²  mae 0.08 Å".
std::string metrics_text(const Metrics& metrics);

/// For people: a line for each metric, "mse (Å²)  0.0123", beside what simple answers have of it.
std::string metrics_lines(const Metrics& model, const std::vector<std::pair<std::string, Metrics>>& beside);

/// For people: a table of a row each, columns in line, units in the head.
std::string table_text(const Breakdown& breakdown);

/// What is measured at each step of a rollout is named `mse` at the first and `mse_step_2`, `mse_step_3`, ... at the later
/// ones (tasks/rigid_motion.h). The metrics without those of later steps.
Metrics of_first_step(const Metrics& metrics);

/// For people: a table for each metric that has later steps, of the model and of simple answers beside it, at up to twelve
/// steps, evenly taken, the first and the last among them; empty where there is one step.
std::string rollout_text(const Metrics& model,
                         const std::vector<std::pair<std::string, Metrics>>& beside = {});

}  // namespace weyl
