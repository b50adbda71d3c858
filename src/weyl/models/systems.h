#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/models/model.h"
#include "weyl/models/options.h"

namespace weyl {

/// A system: its options with their defaults, the carrier that it reads, and how a model is built of them.
struct System {
  SystemOptions options;
  Carrier carrier;
  std::function<std::shared_ptr<Model>(const SystemOptions&, const Interface&)> build;
};
using Systems = std::vector<System>;

/// The system whose models are of class M: a PointsModel, PosesModel or GridModel with `using Options = ...` and a
/// constructor (const Options&, const Interface&).
template <class M>
System system_of() {
  using Options = typename M::Options;
  return {Options{}, M::reads, [](const SystemOptions& options, const Interface& interface) {
            const auto* own = options.get_if<Options>();
            require(own != nullptr, Options::name_in_config,
                    ": the options must be its own, got another system's");
            return std::make_shared<M>(*own, interface);
          }};
}

/// The systems that come with weyl. A program with a system of its own appends system_of<...>() to them and hands the
/// list to run_program (weyl/program.h), or to the functions that read configs and models.
const Systems& built_in_systems();

/// The options among which a config can choose with these systems.
ModelOptions options_of(const Systems& systems);

/// Builds the model that the options name, on the construction device (BuildOn). ConfigError when the system
/// cannot serve the carrier or a quantity of the interface, naming the systems that can.
std::shared_ptr<Model> build(const ModelOptions& options, const Interface& interface,
                             const Systems& systems = built_in_systems());

/// The name of the chosen system ("platonic").
std::string system_name(const ModelOptions& options);

}  // namespace weyl
