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

/// The format of model.safetensors and state.safetensors that this program writes; older ones are read for
/// ever.
constexpr int64_t checkpoint_format = 1;

/// What a model file says about itself in its header: enough for `weyl info`, without torch and without a
/// weight.
struct ModelSummary {
  int64_t format_version = checkpoint_format;
  std::string weyl_version;
  std::string system, carrier, task;  // "platonic", "points", "trajectory" (empty: no task)
  std::string dtype;                  // of the weights: "float32"
  std::string recipe;                 // the resolved config as TOML
  Interface interface;
  std::vector<std::string> exact, approximate;         // groups of the symmetry that is claimed, or measured
  int64_t parameters = 0, parameters_real = 0;         // a complex number counted once, and as stored
  std::vector<std::pair<std::string, int64_t>> parts;  // parameters by top-level module
  double flops_forward = 0;                            // per token (models/work.h)
  double flops_train = 0;                              // per token of training (training_flops)
  double flops_nominal = 0;                            // likewise, nominal
  int64_t step = 0;                                    // of training, 0 for imported weights
  double epoch = 0;
  SampleFacts trained_on;    // what is known of the data beside their shapes
  std::string metric, unit;  // that picked this checkpoint, empty for none
  double value = 0;
};

/// The metadata of a model file, and back. DataError: a missing or broken entry, an unknown format version, a
/// carrier or an interface that does not exist; `where` names the file.
std::map<std::string, std::string> to_metadata(const ModelSummary& summary);
ModelSummary read_summary(const SafetensorsHeader& header, const std::string& where);

/// Whether the header is that of a model that weyl wrote (and not of bare weights).
bool is_model(const SafetensorsHeader& header);

/// The model file of a path: itself, or of a run folder its best/ (or last/, previous/) checkpoint, or of a
/// checkpoint folder its model.safetensors. DataError when there is none.
std::string model_file(const std::string& path);

}  // namespace weyl
