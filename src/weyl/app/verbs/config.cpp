#include <algorithm>
#include <iostream>
#include <iterator>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/train/preflight/label_features.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

/// Visits a recipe with its defaults.
Visit visit_recipe(const ModelOptions& known) {
  return [known](Fields& f) {
    Recipe recipe;
    recipe.model = known;
    fields(f, recipe);
  };
}

}  // namespace

int run(const ConfigSchemaCommand& command, const ModelOptions& known) {
  require<ConfigError>(!(command.markdown && command.output.json),
                       "weyl config schema: take --markdown or --json");
  std::cout << (command.markdown ? describe_markdown(visit_recipe(known), "Config reference")
                                 : describe_json_schema(visit_recipe(known)));
  return exit_done;
}

int run(const ConfigExplainCommand& command, const ModelOptions& known) {
  const std::string explanation = explain(visit_recipe(known), command.key);
  if (command.output.json) {
    std::cout << Json::object().set("key", command.key).set("text", explanation).dump() << "\n";
  } else {
    std::cout << explanation << (explanation.ends_with('\n') ? "" : "\n");
  }
  return exit_done;
}

int run(const ConfigCheckCommand& command, const ModelOptions& known,
        const std::function<std::vector<std::string>(const Recipe&)>& more) {
  Recipe recipe = read_recipe(command.config.path, command.config.overrides, known);
  require_features_are_no_labels(recipe);
  std::vector<std::string> warnings = unused_option_warnings([&] { require_effects(recipe); });
  const bool may_train = !recipe.bench && !recipe.interface;  // the others are as often for something else
  try {
    check_trainable(recipe);
  } catch (const ConfigError& error) {
    if (may_train) {
      warnings.emplace_back(error.what());
    }
  }
  if (more) {
    std::ranges::move(more(recipe), std::back_inserter(warnings));
  }
  require<ConfigError>(!command.strict || warnings.empty(), warnings.empty() ? "" : warnings.front());
  warn_each(warnings);
  const std::string resolved = write_toml([&](Fields& f) { fields(f, recipe); });
  if (command.output.json) {
    std::cout
        << Json::object().set("ok", true).set("config", command.config.path).set("resolved", resolved).dump()
        << "\n";
  } else {
    std::cout << resolved;
  }
  return exit_done;
}

}  // namespace weyl
