#include "weyl/makers/makers.h"

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/core/module.h"
#include "weyl/core/nearest.h"
#include "weyl/makers/makers_module.h"

namespace weyl {
namespace {

struct MakersModule : OpenedModule {
  decltype(&weyl_makers_describe) describe = nullptr;
  decltype(&weyl_makers_plan) plan = nullptr;
  decltype(&weyl_makers_libraries) libraries = nullptr;

  MakersModule() : OpenedModule(WEYL_MAKERS_LIBRARY) {
    find(describe, "weyl_makers_describe");
    find(plan, "weyl_makers_plan");
    find(libraries, "weyl_makers_libraries");
  }
};

const MakersModule& use_makers() {
  static const MakersModule opened;
  require<ConfigError>(opened.fault().empty(), "data make: needs ", WEYL_MAKERS_LIBRARY, ", ",
                       opened.fault());
  return opened;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> makers() {
  std::vector<std::pair<std::string, std::string>> all;
  each_alternative<Maker>([&]<class Options>(std::type_identity<Options>) {
    all.emplace_back(Options::name_in_config, Options::makes);
  });
  return all;
}

std::optional<Maker> find_maker(const std::string& name) {
  std::optional<Maker> found;
  any_alternative<Maker>([&]<class Options>(std::type_identity<Options>) {
    if (name == Options::name_in_config) {
      found = Options();
    }
    return found.has_value();
  });
  return found;
}

Maker maker_named(const std::string& name) {
  if (auto found = find_maker(name)) {
    return *std::move(found);
  }
  std::vector<std::string> names;
  for (const auto& maker : makers()) {
    names.push_back(maker.first);
  }
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    all += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  const std::string near = nearest(name, names);
  throw ConfigError(text("data make: there is no maker '", name, "'; ",
                         near.empty() ? "there are " + all : "did you mean '" + near + "'?"));
}

std::string describe_maker(const std::string& name) {
  std::string described;
  use_makers().describe(name, described);
  return described;
}

MakerPlan plan_of_maker(const std::string& name, const std::vector<std::string>& overrides, int64_t threads) {
  maker_named(name);  // refuses others without the library
  MakerPlan plan;
  use_makers().plan(name, overrides, threads, plan);
  return plan;
}

MakersLibraries makers_libraries() {
  MakersLibraries libraries;
  use_makers().libraries(libraries);
  return libraries;
}

}  // namespace weyl
