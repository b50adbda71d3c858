#include "weyl/models/systems.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/models/framed_model.h"
#include "weyl/models/gatr/gatr.h"
#include "weyl/models/geomformer/geomformer.h"
#include "weyl/models/grids/cnn.h"
#include "weyl/models/grids/unet.h"
#include "weyl/models/lie/lie.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/models/steerable/steerable.h"
#include "weyl/models/transformer/transformer.h"

namespace weyl {
namespace {

std::string systems_on(Carrier carrier, const Systems& systems) {
  std::string names;
  for (const System& system : systems) {
    if (system.carrier == carrier) {
      names += (names.empty() ? "" : ", ") + std::string(system.options.name());
    }
  }
  return names.empty() ? "none" : names;
}

}  // namespace

const Systems& built_in_systems() {
  static const Systems systems{system_of<transformer::Transformer>(),
                               system_of<platonic::Platonic>(),
                               system_of<lie::Transformer>(),
                               system_of<steerable::Net>(),
                               system_of<geomformer::Geomformer>(),
                               system_of<gatr::Gatr>(),
                               system_of<grids::Cnn>(),
                               system_of<grids::Unet>()};
  return systems;
}

ModelOptions options_of(const Systems& systems) {
  require(!systems.empty(), "systems: there must be one at least");
  ModelOptions options{systems.front().options, {}};
  for (const System& system : systems) {
    options.known.push_back(system.options);
  }
  return options;
}

std::string system_name(const ModelOptions& options) {
  return std::string(options.system.name());
}

std::shared_ptr<Model> build(const ModelOptions& options, const Interface& interface,
                             const Systems& systems) {
  const std::string_view name = options.system.name();
  const auto system =
      std::ranges::find_if(systems, [&](const System& s) { return s.options.name() == name; });
  require<ConfigError>(system != systems.end(), "model.system: this program has no system '", name, "'");
  const Carrier carrier = carrier_of(interface);
  require<ConfigError>(system->carrier == carrier, "model.system: '", name, "' does not work on ",
                       name_of(carrier), "; systems that do: ", systems_on(carrier, systems));
  std::shared_ptr<Model> model = system->build(options.system, interface);
  if (options.frames == FrameMethod::none) {
    return model;
  }
  const auto of_points = std::dynamic_pointer_cast<PointsModel>(model);
  require<ConfigError>(of_points != nullptr, "model.frames: must be \"none\" for '", name,
                       "', which works on ", name_of(carrier), " and not on points, got \"",
                       names_of(options.frames)[static_cast<size_t>(options.frames)], "\"");
  return std::make_shared<FramedModel>(of_points, options.frames);
}

}  // namespace weyl
