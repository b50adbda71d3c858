#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

void visit_recipe(Fields& f) {
  Recipe recipe;
  fields(f, recipe);
}

}  // namespace

int run(const ConfigSchemaCommand& command) {
  require<ConfigError>(!(command.markdown && command.talk.json),
                       "weyl config schema: take --markdown or --json");
  std::cout << (command.markdown ? describe_markdown(visit_recipe, "Config reference")
                                 : describe_json_schema(visit_recipe));
  return exit_done;
}

int run(const ConfigExplainCommand& command) {
  const std::string explanation = explain(visit_recipe, command.key);
  if (command.talk.json) {
    std::cout << Json::object().set("key", command.key).set("text", explanation).dump() << "\n";
  } else {
    std::cout << explanation << (explanation.ends_with('\n') ? "" : "\n");
  }
  return exit_done;
}

int run(const ConfigCheckCommand& command) {
  Recipe recipe = read_recipe(command.config.path, command.config.overrides);
  const std::string resolved = write_toml([&](Fields& f) { fields(f, recipe); });
  if (command.talk.json) {
    std::cout
        << Json::object().set("ok", true).set("config", command.config.path).set("resolved", resolved).dump()
        << "\n";
  } else {
    std::cout << resolved;
  }
  return exit_done;
}

}  // namespace weyl
