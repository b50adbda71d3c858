#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/carriers/sample_facts.h"
#include "weyl/core/safetensors.h"

namespace weyl {

/// The format of model.safetensors and state.safetensors that this program writes; older formats can always be read.
constexpr int64_t checkpoint_format = 1;

/// What a model file says about itself in its header: enough for `weyl info`, without torch and without a
/// weight.
struct ModelSummary {
  int64_t format_version = checkpoint_format;
  std::string weyl_version;
  std::string system, carrier, task;  // "platonic", "points", "trajectory"; task empty: none
  std::string dtype;                  // of the weights: "float32"
  std::string recipe;                 // the resolved config as TOML
  Interface interface;
  std::vector<std::string> exact, approximate;  // groups of the symmetries that are claimed, or only measured
  int64_t parameters = 0, parameters_real = 0;  // a complex number counts once, or as its stored reals
  std::vector<std::pair<std::string, int64_t>> parts;  // parameters by top-level module
  double flops_forward = 0;                            // per token (models/work.h)
  double flops_train = 0;                              // per token of training (training_flops)
  double flops_nominal = 0;                            // likewise, nominal
  int64_t step = 0;                                    // of training, 0 for imported weights
  double epoch = 0;
  SampleFacts trained_on;    // what is known of the training data besides their shapes
  std::string metric, unit;  // the metric that picked this checkpoint; empty: none
  double value = 0;
};

/// Turns a summary into the metadata of a model file, and back. DataError: a missing or broken entry, an unknown format
/// version, a carrier or an interface that does not exist; `where` names the file.
std::map<std::string, std::string> to_metadata(const ModelSummary& summary);
ModelSummary read_summary(const SafetensorsHeader& header, const std::string& where);

/// Whether the header is that of a model that weyl wrote (and not of bare weights).
bool is_model(const SafetensorsHeader& header);

/// Finds the model file of a path: the file itself; for a run folder that of its best/ checkpoint, else last/, else
/// previous/; for a checkpoint folder its model.safetensors. DataError when there is none.
std::string model_file(const std::string& path);

}  // namespace weyl
