#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/core/quantity.h"
#include "weyl/data/options.h"
#include "weyl/models/options.h"
#include "weyl/tasks/options.h"
#include "weyl/train/options.h"

namespace weyl {

void fields(Fields& f, Quantity& q);
void fields(Fields& f, Interface& i);

/// A whole config file: data, task, model, train; or, for weights without data, an [interface].
struct Recipe {
  DataOptions data;
  TaskOptions task;
  ModelOptions model;
  TrainOptions train;
  std::optional<Interface> interface;
};
void fields(Fields& f, Recipe& r);

/// Reads a config with overrides ("train.epochs=5"). ConfigError: see config/toml.h.
Recipe read_recipe(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace weyl
