#pragma once

#include <string>
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

/// For people: a table of a row each, columns in line, units in the head.
std::string table_text(const Breakdown& breakdown);

}  // namespace weyl
