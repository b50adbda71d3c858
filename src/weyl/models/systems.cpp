#include "weyl/models/systems.h"

#include "weyl/core/check.h"
#include "weyl/models/geomformer/geomformer.h"
#include "weyl/models/lie/lie.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/models/steerable/steerable.h"
#include "weyl/models/transformer/transformer.h"

namespace weyl {
namespace {

// One overload a system; `build` below is the only place that calls them.
std::shared_ptr<Model> make(const TransformerOptions& o, const Interface& interface) {
  return std::make_shared<Transformer>(o, interface);
}
std::shared_ptr<Model> make(const PlatonicOptions& o, const Interface& interface) {
  return std::make_shared<Platonic>(o, interface);
}
std::shared_ptr<Model> make(const LieOptions& o, const Interface& interface) {
  return std::make_shared<LieTransformer>(o, interface);
}
std::shared_ptr<Model> make(const SteerableOptions& o, const Interface& interface) {
  return std::make_shared<SteerableNet>(o, interface);
}
std::shared_ptr<Model> make(const GeomformerOptions& o, const Interface& interface) {
  return std::make_shared<Geomformer>(o, interface);
}

// The carrier that each system reads.
constexpr Carrier carrier_of(const TransformerOptions*) {
  return Carrier::points;
}
constexpr Carrier carrier_of(const PlatonicOptions*) {
  return Carrier::points;
}
constexpr Carrier carrier_of(const GeomformerOptions*) {
  return Carrier::points;
}
constexpr Carrier carrier_of(const LieOptions*) {
  return Carrier::poses;
}
constexpr Carrier carrier_of(const SteerableOptions*) {
  return Carrier::grid;
}

template <class... Systems>
std::string systems_on(Carrier carrier, const std::variant<Systems...>*) {
  std::string names;
  ((carrier_of(static_cast<const Systems*>(nullptr)) == carrier
        ? (void)(names += (names.empty() ? "" : ", ") + std::string(Systems::name_in_config))
        : void()),
   ...);
  return names.empty() ? "none" : names;
}

}  // namespace

std::string system_name(const ModelOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.name_in_config); }, options.system);
}

std::shared_ptr<Model> build(const ModelOptions& options, const Interface& interface) {
  const Carrier carrier = carrier_of(interface);
  return std::visit(
      [&](const auto& o) {
        require<ConfigError>(carrier_of(&o) == carrier, "model.system: '", o.name_in_config,
                             "' does not work on ", name_of(carrier), "; systems that do: ",
                             systems_on(carrier, static_cast<const SystemOptions*>(nullptr)));
        return make(o, interface);
      },
      options.system);
}

}  // namespace weyl
