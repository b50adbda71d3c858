#include "weyl/train/freeze.h"

#include <algorithm>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

// "layers", "layers.0", ... and the names themselves.
std::vector<std::string> prefixes_of(const Module& model) {
  std::set<std::string> all;
  for (const Parameter& p : model.parameters()) {
    for (size_t dot = p.name.find('.'); dot != std::string::npos; dot = p.name.find('.', dot + 1)) {
      all.insert(p.name.substr(0, dot));
    }
    all.insert(p.name);
  }
  return {all.begin(), all.end()};
}

// The parts of a model, for those who have named none of them.
std::string parts_of(const Module& model) {
  std::string parts;
  for (const auto& [name, count] : model.parts()) {
    parts += (parts.empty() ? "" : ", ") + name;
  }
  return parts;
}

}  // namespace

void freeze_parameters(Module& model, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (model.freeze(prefix) == 0) {
      const std::string near = nearest(prefix, prefixes_of(model));
      throw ConfigError(text("train.freeze: must be the beginnings of names of parameters, up to a dot, got ",
                             quote(prefix), near.empty() ? "" : " (did you mean " + near + "?)",
                             "; the model has ", parts_of(model)));
    }
  }
  const auto all = model.parameters();
  require<ConfigError>(
      prefixes.empty() ||
          std::any_of(all.begin(), all.end(), [](const auto& p) { return p.trainable && !p.frozen; }),
      "train.freeze: must leave some parameter to be trained, and leaves none");
}

}  // namespace weyl
