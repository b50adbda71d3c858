#include "weyl/makers/makers_module.h"

#include "weyl/config/toml.h"
#include "weyl/makers/bodies/rigid_world.h"
#include "weyl/makers/molecules/smiles.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {

void weyl_makers_describe(const std::string& maker, std::string& described) {
  Maker found = maker_named(maker);
  described =
      std::visit([](auto& options) { return describe_keys([&](Fields& f) { fields(f, options); }); }, found);
}

void weyl_makers_plan(const std::string& maker, const std::vector<std::string>& overrides, int64_t threads,
                      MakerPlan& plan) {
  Maker found = maker_named(maker);
  plan = std::visit(
      [&](auto& options) {
        options.threads = threads;
        read_toml_text("", "weyl data make " + maker, overrides, [&](Fields& f) { fields(f, options); });
        return plan_of(options);
      },
      found);
}

void weyl_makers_libraries(MakersLibraries& libraries) {
  libraries = {.bullet = bullet_version(), .rdkit = rdkit_version(), .xtb = xtb_version()};
}

}  // namespace weyl
