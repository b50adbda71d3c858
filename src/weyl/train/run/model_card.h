#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weyl/saved/model_summary.h"

namespace weyl {

/// One line of results in a model card: "test mse", 0.0071, "unit^2".
struct CardResult {
  std::string name;
  double value = 0;
  std::string unit;
};

/// The README.md of a run, with `notes` about its use (Task::notes): Markdown with the YAML front matter that model
/// hubs read. `name` is the run's. Names and units are shown literally, whatever characters they have.
std::string model_card(const std::string& name, const ModelSummary& summary,
                       const std::vector<CardResult>& results, const std::vector<std::string>& notes = {});

}  // namespace weyl
