#include "weyl/train/stored_recipe.h"

#include <filesystem>

#include "weyl/models/lie/options.h"

namespace weyl {

void fields_of_stored(Fields& f, Recipe& recipe) {
  ModelOptions& model = recipe.model;
  const std::vector<SystemOptions> defaults = model.known;
  model = stored(std::move(model));
  fields(f, recipe);
  model.known = defaults;
  if (auto* o = model.system.get_if<lie::Options>(); o != nullptr && o->variant != lie::Variant::C) {
    o->score_activation = lie::Options().score_activation;  // there is no network that it stands in
  }
}

bool is_stored_recipe(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code error;
  return file.filename() == "config.toml" &&
         std::filesystem::is_regular_file(file.parent_path() / "environment.json", error);
}

}  // namespace weyl
