#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/quantity_fields.h"
#include "weyl/data/options.h"
#include "weyl/models/options.h"
#include "weyl/ops/autograd/plain_attention.h"
#include "weyl/saved/saved_recipe.h"
#include "weyl/tasks/options.h"
#include "weyl/train/options.h"

namespace weyl {

/// What `weyl bench` times when no data set is meant: random tokens.
struct BenchTable {
  int64_t graphs = 32, nodes = 16;
  std::vector<int64_t> shape;  // of grids, in place of nodes: cells along each axis
  bool expressions = true;     // whether the same model in torch expressions is timed beside it
  PlainAttention plain_attention = PlainAttention::pairs;
};
void fields(Fields& f, BenchTable& b);

/// A whole config file: data, task, model, train; or, for weights without data, an [interface].
struct Recipe {
  DataOptions data;
  TaskOptions task;
  ModelOptions model;
  TrainOptions train;
  std::optional<Interface> interface;
  std::optional<BenchTable> bench;
  std::vector<std::string> warnings;  // options of a config that are set but have no effect, a line each
};
void fields(Fields& f, Recipe& r);

/// Reads a config with overrides ("train.epochs=5"), whose system may be any of those known. Options that are set but have
/// no effect are warnings of the recipe.
/// ConfigError: see config/toml.h; also for an interface with a quantity that has no name, two of one name, or a
/// multivector where the dimension is not three.
Recipe read_recipe(const std::string& path, const std::vector<std::string>& overrides = {},
                   const ModelOptions& known = {});

/// The recipe of a model file or checkpoint, from its text, with the systems that a program knows. DataError naming `where`.
Recipe read_stored_recipe(const std::string& text, const std::string& where, const ModelOptions& known = {});

/// What a model file keeps of a recipe.
SavedRecipe saved_recipe(const Recipe& recipe);

/// Reports options of data, task, model or training that are set but have no effect (config/idle.h). An option that
/// depends on the model's interface is taken to have one (SystemOptions::require_effects says it, once the interface is
/// known), unless the recipe's own [interface] has outputs. ConfigError: what require_objects says.
void require_effects(const Recipe& recipe);

/// ConfigError where the model looks at objects, which the data set has none of. With an [interface], and of set
/// `tensors`, only the files know.
void require_objects(const Recipe& recipe);

/// Checks what only training asks of a recipe: ConfigError unless train.epochs, train.steps, train.flops or
/// train.max_seconds is set.
void check_trainable(const Recipe& recipe);

}  // namespace weyl
