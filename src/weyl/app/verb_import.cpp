#include <filesystem>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/info_json.h"
#include "weyl/app/subject.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/data/formats/weights.h"
#include "weyl/models/import.h"

namespace weyl {

int run(const ImportCommand& command) {
  require<ConfigError>(command.out.ends_with(".safetensors"), "--out: must be a .safetensors file, got '",
                       command.out, "'");
  NamedTensors weights;
  bool wide = false;
  for (const NamedArray& named : read_weights(command.weights)) {
    const std::string where = command.weights + ": " + named.name;
    weights[named.name] = copy_tensor(named.array.type, named.array.shape, named.array.bytes, where);
    wide |= named.array.type == ElementType::f64;
  }
  Subject subject = build_subject(command.config, at::kCPU,
                                  command.dtype ? dtype_of(command.dtype)
                                  : wide        ? at::kDouble
                                                : at::kFloat);
  import_weights(*subject.model, subject.recipe.model, weights, command.weights);
  SavedModel saved;
  saved.recipe = subject.recipe;
  saved.interface = subject.model->interface;
  saved.carrier = subject.model->carrier();
  saved.model = subject.model;
  saved.metadata["imported_from"] = std::filesystem::path(command.weights).filename().string();
  save_model(command.out, saved);
  if (command.talk.json) {
    std::cout << info_json(summarise(saved), saved.recipe).set("out", command.out).dump() << "\n";
  } else {
    std::cout << command.out << "\n";
  }
  return exit_done;
}

}  // namespace weyl
