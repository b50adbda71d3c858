#pragma once

#include <string>
#include <vector>

#include "weyl/app/new_config_data.h"

namespace weyl {

/// The systems with a recipe for such data, the best first.
std::vector<std::string> fitting_systems(const FoundData& found, const std::string& task);

/// [model] and its table, as the recipes of configs/ have them for data of this kind.
void write_model(ConfigDraft& draft, const FoundData& found, const std::string& task,
                 const std::string& system);
/// [train] and its tables: batches by the size of the samples, a budget of minutes by their number.
void write_train(ConfigDraft& draft, const FoundData& found, const std::string& task,
                 const std::string& system);

}  // namespace weyl
