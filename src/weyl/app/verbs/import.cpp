#include <algorithm>
#include <filesystem>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/info_metadata.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/units.h"
#include "weyl/predict/subject.h"
#include "weyl/train/import.h"

namespace weyl {
namespace {

/// The unit of the energy that a model of the config gives for a task; empty: it gives none, or no unit is
/// known.
std::string energy_unit_of(const Subject& subject) {
  const auto& outputs = subject.model->interface.outputs;
  if (!subject.task || outputs.empty()) {
    return {};
  }
  try {
    unit_factor(outputs.front().unit, "eV");
    return outputs.front().unit;
  } catch (const ConfigError&) {
    return {};
  }
}

/// What an energy of the weights is multiplied with to be in the unit of the config.
double energy_factor(const std::string& given, const std::string& unit) {
  require<ConfigError>(given.empty() || !unit.empty(),
                       "--energy-unit: needs a config with a task whose output is an energy in a known unit");
  try {
    if (!given.empty()) {
      check_unit(given, unit);
    }
    return given.empty() ? 1 : unit_factor(given, unit);
  } catch (const ConfigError& error) {
    throw ConfigError(text("--energy-unit: must be an energy: ", error.what()));
  }
}

/// "H, C, N, O": the types that weights were trained on, by their elements where they have some.
std::string trained_text(const std::vector<bool>& trained, const std::vector<std::string>& elements) {
  std::string line;
  for (size_t t = 0; t < trained.size(); ++t) {
    if (trained[t]) {
      line += (line.empty() ? "" : ", ") + (t < elements.size() ? elements[t] : "type " + std::to_string(t));
    }
  }
  return line;
}

}  // namespace

int run(const ImportCommand& command, const Systems& systems) {
  require<ConfigError>(command.out.ends_with(".safetensors"), "--out: must be a .safetensors file, got '",
                       command.out, "'");
  const Overwrite overwrite(command.force, {command.weights, command.config.path});
  overwrite.at(command.out);  // asked before the work, and again when the file is there
  const NamedTensors weights = read_state_dict(command.weights);
  const bool wide = std::any_of(weights.begin(), weights.end(),
                                [](const auto& named) { return named.second.scalar_type() == at::kDouble; });
  Subject subject =
      build_subject(read_recipe(command.config.path, command.config.overrides, options_of(systems)), at::kCPU,
                    command.dtype ? dtype_of(command.dtype)
                    : wide        ? at::kDouble
                                  : at::kFloat,
                    systems, shapes_of(weights));
  warn_each(subject.recipe.warnings);
  const std::string unit = energy_unit_of(subject);
  OutputLaw law{.scale = energy_factor(command.energy_unit, unit)};
  Imported imported =
      import_weights(*subject.model, weights, command.weights, read_foreign_record(command.weights, weights));
  law.shift = law.scale * imported.shift;
  law.trained = std::move(imported.trained);
  const bool adopted = subject.task != nullptr && subject.task->adopt(subject.schema, law);
  require<DataError>(adopted || law.plain(), command.weights, ": energies are to be scaled by ", law.scale,
                     " and shifted by ", law.shift,
                     ", which needs a config with the task force_field, or property with one target");
  SavedModel saved;
  saved.recipe = saved_recipe(subject.recipe);
  saved.interface = subject.model->interface;
  saved.model = subject.model;
  if (adopted) {
    saved.task = std::move(subject.task);
  }
  saved.metadata["imported_from"] = std::filesystem::path(command.weights).filename().string();
  save_model(command.out, saved, overwrite.at(command.out));
  if (command.energy_unit.empty() && !unit.empty()) {
    say(text("energies of the weights are taken to be in ", unit, "; --energy-unit says otherwise"));
  }
  if (adopted && !law.trained.empty()) {
    say("trained on " + trained_text(law.trained, subject.schema.interface.elements) +
        "; other types count as unseen");
  }
  if (command.output.json) {
    std::cout << info_json(summarise(saved), subject.recipe).set("out", command.out).dump() << "\n";
  } else {
    std::cout << command.out << "\n";
  }
  return exit_done;
}

}  // namespace weyl
