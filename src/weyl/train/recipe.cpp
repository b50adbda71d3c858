#include "weyl/train/recipe.h"

#include <algorithm>
#include <optional>
#include <set>

#include "weyl/config/toml.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

void check_quantities(const std::vector<Quantity>& quantities, std::string_view key, int64_t dimension,
                      const std::string& path) {
  std::set<std::string> names;
  for (size_t i = 0; i < quantities.size(); ++i) {
    const auto& q = quantities[i];
    require<ConfigError>(!q.name.empty(), path, ": interface.", key, "[", i,
                         "].name: must be given, got nothing");
    require<ConfigError>(names.insert(q.name).second, path, ": interface.", key, "[", i,
                         "].name: must be a name of its own, got \"", q.name, "\" a second time");
    require<ConfigError>(q.kind != Kind::multivector || dimension == 3, path, ": interface.", key, "[", i,
                         "].kind: a multivector needs interface.dimension = 3, got ", dimension);
  }
}

}  // namespace

void fields(Fields& f, BenchTable& b) {
  f("graphs", b.graphs, "samples in a batch", {1, 1e6});
  f("nodes", b.nodes, "tokens of each", {1, 1e6});
  f("shape", b.shape,
    "of grids, in place of nodes: cells along each axis, one number: along all; none: as many as the data "
    "say",
    {1, 1e6});
  f("expressions", b.expressions,
    "also times the model as plain torch expressions; false for inputs that these take minutes or too much "
    "memory for");
  f("plain_attention", b.plain_attention,
    "attention of the torch expressions that the model is timed against: over a list of the pairs of each "
    "graph, or over graphs padded to one size");
}

void fields(Fields& f, Recipe& r) {
  f("data", r.data, "what is learned from");
  f("task", r.task, "what is learned");
  f("model", r.model, "what learns");
  f("train", r.train, "how it learns");
  f("interface", r.interface, "what the model is told and asked, in place of a data set's own declaration");
  f("bench", r.bench,
    "random tokens (molecules, of a force field) that `weyl bench` times in place of the data set's");
}

namespace {

Recipe read_whole(const std::string& path, const std::vector<std::string>& overrides,
                  const ModelOptions& known) {
  Recipe recipe;
  recipe.model = known;
  read_toml(path, overrides, [&](Fields& f) { fields(f, recipe); });
  if (recipe.interface) {
    check_quantities(recipe.interface->features, "features", recipe.interface->dimension, path);
    check_quantities(recipe.interface->outputs, "outputs", recipe.interface->dimension, path);
    const Interface& i = *recipe.interface;
    require<ConfigError>(!i.group || i.dimension == dimension_of(*i.group), path,
                         ": interface.dimension: must be ", i.group ? dimension_of(*i.group) : 0,
                         ", that of the group ", i.group ? name_of(*i.group) : "", ", or be left out, got ",
                         i.dimension);
    require<ConfigError>(!(i.group && i.grid), path,
                         ": interface: must be of poses (group) or of a grid, got both");
  }
  return recipe;
}

/// Other faults of the recipe are found by whoever uses it.
std::vector<std::string> warnings_of(const Recipe& recipe) {
  return unused_option_warnings([&] {
    try {
      require_effects(recipe);
    } catch (const ConfigError&) {
    }
  });
}

}  // namespace

Recipe read_recipe(const std::string& path, const std::vector<std::string>& overrides,
                   const ModelOptions& known) {
  Recipe recipe = read_whole(path, overrides, known);
  recipe.warnings = warnings_of(recipe);
  return recipe;
}

namespace {

/// A stored recipe has all keys that there were: of one that came later, what programs did before it came.
std::vector<std::string> keys_that_came_later(std::string_view text) {
  const auto part_of = [&](std::string_view table) {  // "" without it
    const size_t begin = text.find(table);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find("\n[", begin + 1) - begin);
  };
  const std::string_view steerable = part_of("\n[model.steerable]\n");
  const bool without = !steerable.empty() && steerable.find("\nmargin = ") == std::string_view::npos;
  return without ? std::vector<std::string>{"model.steerable.margin=0"} : std::vector<std::string>{};
}

}  // namespace

Recipe read_stored_recipe(const std::string& text, const std::string& where, const ModelOptions& known) {
  Recipe recipe;
  recipe.model = known;
  try {
    read_toml_text(text, where + ": metadata 'recipe'", keys_that_came_later(text),
                   [&](Fields& f) { fields(f, recipe); });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  return recipe;
}

SavedRecipe saved_recipe(const Recipe& recipe) {
  SavedRecipe saved;
  saved.task = recipe.task;
  saved.model = recipe.model;
  if (const auto* molecules = std::get_if<MoleculesDataOptions>(&recipe.data.set)) {
    saved.states = molecules->states;
  }
  saved.batch = recipe.train.batch;
  saved.text = write_toml([whole = recipe](Fields& f) mutable { fields(f, whole); });
  return saved;
}

namespace {

/// The weight of angles is beside that of translations, which rotations alone have not.
void require_translations(const Recipe& recipe) {
  const auto* task = std::get_if<PoseCorrectionOptions>(&recipe.task.task);
  const auto* windows = std::get_if<PoseWindowsDataOptions>(&recipe.data.set);
  if (task == nullptr || windows == nullptr) {
    return;
  }
  const bool translations = matrix_size(windows->group) > dimension_of(windows->group);
  const Conditional options[] = {
      {"angle_weight", translations, "on rotations alone, which have no translations to weigh against"}};
  refuse_unused("task.pose_correction", *task, PoseCorrectionOptions{}, options);
}

}  // namespace

void require_effects(const Recipe& recipe) {
  const bool stated = recipe.interface && !recipe.interface->outputs.empty();
  require_effects(recipe.data);
  require_effects(recipe.task);
  require_translations(recipe);
  recipe.model.system.require_effects(stated ? &*recipe.interface : nullptr);
  require_effects(recipe.train);
  require_objects(recipe);
}

void require_objects(const Recipe& recipe) {
  const std::string must = recipe.model.system.must_without_objects();
  std::visit(
      [&]<class Set>(const Set&) {
        constexpr bool may_have =
            std::is_same_v<Set, RigidBodiesDataOptions> || std::is_same_v<Set, TensorsDataOptions>;
        require<ConfigError>(may_have || recipe.interface || must.empty(), must, ": data set ",
                             Set::name_in_config, " has no objects");
      },
      recipe.data.set);
}

void check_trainable(const Recipe& recipe) {
  const auto& o = recipe.train;
  require<ConfigError>(o.epochs || o.steps || o.flops || o.max_seconds,
                       "train: must have a budget, train.epochs, train.steps, train.flops or "
                       "train.max_seconds, got none of them");
}

}  // namespace weyl
