#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/data/options.h"
#include "weyl/models/options.h"
#include "weyl/ops/autograd/plain_attention.h"
#include "weyl/saved/saved_recipe.h"
#include "weyl/tasks/options.h"
#include "weyl/train/options.h"

namespace weyl {

/// What `weyl bench` times when no data set is named: random tokens.
struct BenchTable {
  int64_t graphs = 32, nodes = 16;
  std::vector<int64_t> shape;  // cells along each axis of a grid, in place of `nodes`
  bool expressions = true;     // also times the same model in torch expressions
  PlainAttention plain_attention = PlainAttention::pairs;
};
void fields(Fields& f, BenchTable& b);

/// A whole config file: data, task, model and train or, for weights without data, an [interface].
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

/// Reads a config with overrides ("train.epochs=5"). Its system may be any of those in `known`. Options that are set
/// but have no effect become warnings of the recipe. ConfigError: see config/toml.h; also an [interface] with a
/// quantity that has no name, two of one name, or a multivector where the dimension is not three.
Recipe read_recipe(const std::string& path, const std::vector<std::string>& overrides = {},
                   const ModelOptions& known = {});

/// Reads the recipe of a model file or checkpoint from its text, with the systems that a program knows. DataError
/// naming `where`.
Recipe read_stored_recipe(const std::string& text, const std::string& where, const ModelOptions& known = {});

/// The part of a recipe that a model file keeps.
SavedRecipe saved_recipe(const Recipe& recipe);

/// Reports options of data, task, model or training that are set but have no effect (config/unused_options.h). An
/// option whose effect depends on the model's interface counts as having one, unless the recipe's own [interface] has
/// outputs. (SystemOptions::require_effects decides once the interface is known.) ConfigError: see require_objects.
void require_effects(const Recipe& recipe);

/// ConfigError where the model looks at objects and the data set has none. With an [interface], and for the set
/// `tensors`, only the files say whether there are objects, and nothing is checked.
void require_objects(const Recipe& recipe);

/// Checks what a recipe needs for training alone. ConfigError unless train.epochs, train.steps, train.flops or
/// train.max_seconds is set.
void check_trainable(const Recipe& recipe);

}  // namespace weyl
