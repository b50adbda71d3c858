#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/info_json.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

// A safetensors file that is no model of ours: what it holds.
Json list_tensors(const SafetensorsHeader& header) {
  Json tensors = Json::array(), metadata = Json::object();
  int64_t parameters = 0;
  for (const auto& [name, entry] : header.tensors) {
    Json shape = Json::array();
    int64_t count = 1;
    for (const int64_t n : entry.shape) {
      shape.add(n);
      count *= n;
    }
    parameters += count;
    tensors.add(Json::object().set("name", name).set("dtype", name_of(entry.type)).set("shape", shape));
  }
  for (const auto& [key, value] : header.metadata) {
    metadata.set(key, value);
  }
  Json json = Json::object();
  json.set("system", Json()).set("parameters", parameters).set("tensors", tensors).set("metadata", metadata);
  return json;
}

std::string tensors_text(const Json& json) {
  std::string out = "no weyl model; " + std::to_string(json.find("tensors")->items().size()) + " tensors, " +
                    std::to_string(static_cast<int64_t>(json.find("parameters")->number_or(0))) +
                    " numbers\n";
  for (const Json& tensor : json.find("tensors")->items()) {
    std::string shape;
    for (const Json& n : tensor.find("shape")->items()) {
      shape += (shape.empty() ? "" : " x ") + std::to_string(static_cast<int64_t>(n.number_or(0)));
    }
    out += "  " + tensor.find("name")->string_or("") + "  " + tensor.find("dtype")->string_or("") + "  (" +
           shape + ")\n";
  }
  for (const auto& [key, value] : json.find("metadata")->members()) {
    out += "  " + key + ": " + value.string_or("") + "\n";
  }
  return out;
}

}  // namespace

std::optional<int> run_from_metadata(const InfoCommand& command, const ModelOptions& known) {
  if (command.verify) {
    return verify(command);
  }
  if (command.subject.path.ends_with(".toml")) {
    return {};  // a config: the engine builds it as shapes
  }
  require<ConfigError>(command.subject.overrides.empty(), "weyl info: overrides go with a CONFIG, but ",
                       command.subject.path, " is none");
  const std::string path = model_file(command.subject.path);
  const SafetensorsFile file(path);
  const SafetensorsHeader& header = file.header();
  if (!is_model(header)) {
    const Json json = list_tensors(header);
    std::cout << (command.talk.json ? json.dump() + "\n" : tensors_text(json));
    return exit_done;
  }
  const ModelSummary summary = read_summary(header, path);
  Recipe recipe;
  recipe.model = known;
  try {
    read_toml_text(summary.recipe, path + ": metadata 'recipe'", {}, [&](Fields& f) { fields(f, recipe); });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  const Json json = info_json(summary, recipe);
  std::cout << (command.talk.json ? json.dump() + "\n" : info_text(json));
  return exit_done;
}

}  // namespace weyl
