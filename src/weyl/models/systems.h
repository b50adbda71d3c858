#pragma once

#include <memory>

#include "weyl/models/model.h"
#include "weyl/models/options.h"

namespace weyl {

/// Builds the model that the options name, on the construction device (BuildOn). ConfigError when the system
/// cannot serve the carrier or a quantity of the interface, naming the systems that can.
std::shared_ptr<Model> build(const ModelOptions& options, const Interface& interface);

/// The name of the chosen system ("platonic").
std::string system_name(const ModelOptions& options);

}  // namespace weyl
