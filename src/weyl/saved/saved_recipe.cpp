#include "weyl/saved/saved_recipe.h"

#include <string_view>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr std::string_view kRead[] = {"task", "model", "data.molecules.states", "train.batch"};

// The tables of a config around the keys that are read.
struct MoleculesPart {
  std::vector<FrameState>& states;
};
struct DataPart {
  MoleculesPart molecules;
};
struct TrainPart {
  int64_t& batch;
};

void fields(Fields& f, MoleculesPart& part) {
  f("states", part.states, "");
}
void fields(Fields& f, DataPart& part) {
  f("molecules", part.molecules, "");
}
void fields(Fields& f, TrainPart& part) {
  f("batch", part.batch, "", {1, 1e9});
}

}  // namespace

SavedRecipe read_saved_recipe(std::string text, const std::string& where, const ModelOptions& known) {
  SavedRecipe recipe;
  recipe.model = known;
  DataPart data{{recipe.states}};
  TrainPart train{recipe.batch};
  try {
    read_toml_part(text, where + ": metadata 'recipe'", kRead, [&](Fields& f) {
      f("data", data, "");
      f("task", recipe.task, "");
      f("model", recipe.model, "");
      f("train", train, "");
    });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  recipe.text = std::move(text);
  return recipe;
}

std::vector<std::string> names_of_classes(const TaskOptions& task, const std::vector<std::string>& of_data) {
  if (const auto* o = std::get_if<ClassificationOptions>(&task.task); o != nullptr && !o->names.empty()) {
    return o->names;
  }
  if (const auto* o = std::get_if<SegmentationOptions>(&task.task); o != nullptr && !o->names.empty()) {
    return o->names;
  }
  return of_data;
}

}  // namespace weyl
