// Runs that start from given weights, and weights that stay as they are.
#include "weyl/train/loop/start_from.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/transformer/options.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/tasks/force_field.h"
#include "tests/train/small_training.h"
#include "weyl/core/check.h"

namespace weyl {
namespace start_from_test {

struct Listener : TrainObserver {
  std::vector<std::string> notes;
  std::string taken;
  void noted(const std::string& line) override { notes.push_back(line); }
  void started(const TrainStart& start) override { taken = start.taken; }
  bool heard(const std::string& part) const {
    return std::ranges::any_of(notes, [&](const auto& line) { return line.find(part) != std::string::npos; });
  }
};

/// Weights of a run's best model by name.
NamedTensors weights_of(const std::string& path) {
  NamedTensors all;
  for (const Parameter& p : load_model(path).model->parameters()) {
    all[p.name] = p.tensor.detach();
  }
  return all;
}

class StartFrom : public testing::Test {
 protected:
  StartFrom() : recipe_(small_recipe()) {
    recipe_.train.epochs = 2;
    run("source", recipe_);
    recipe_.train.from = folder_ / "source";
    recipe_.train.seed = 77;  // other random weights
  }
  TrainResult run(const std::string& name, const Recipe& recipe, std::function<bool()> stop = {}) {
    TrainRequest request;
    request.out = folder_ / name;
    request.data = small_data();
    request.observer = &listener_;
    request.stop = std::move(stop);
    return train(recipe, request);
  }
  TrainResult go_on(const std::string& name) {
    TrainRequest request;
    request.data = small_data();
    request.observer = &listener_;
    return resume(folder_ / name, request);
  }
  std::string refusal(const Recipe& recipe) {
    try {
      run("refused", recipe);
    } catch (const ConfigError& error) {
      EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));  // nothing is written
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    return "accepted";
  }
  ScratchFolder folder_;
  Recipe recipe_;
  Listener listener_;
};

TEST_F(StartFrom, TakesAllWeightsAndPredictsTheSame) {
  recipe_.train.optimiser.rate = 0;
  recipe_.train.optimiser.weight_decay = 0;
  run("run", recipe_);
  const NamedTensors source = weights_of(folder_ / "source"), taken = weights_of(folder_ / "run");
  ASSERT_EQ(source.size(), taken.size());
  for (const auto& [name, t] : source) {
    EXPECT_TRUE(at::equal(t, taken.at(name))) << name;  // the averages too: best/ holds them
  }
  EXPECT_NE(listener_.taken.find(text("took ", source.size(), " of ", source.size(), " parameters")),
            std::string::npos)
      << listener_.taken;
  EXPECT_FALSE(listener_.heard("train.from"));  // nothing to warn of
  const SavedModel a = load_model(folder_ / "source"), b = load_model(folder_ / "run");
  EXPECT_EQ(a.interface.typical_nodes, b.interface.typical_nodes);
  const Batch batch = small_data().test->batch(std::vector<int64_t>{0, 1, 2});
  const Batch ready{to(batch.input, at::kCPU, at::kFloat), batch.labels};
  EXPECT_TRUE(at::equal(a.task->predict(*a.model, ready).at("displacement"),
                        b.task->predict(*b.model, ready).at("displacement")));
}

TEST_F(StartFrom, WaysOfWorkingAndOfTrainingAreNoDifference) {
  platonic::Options options;
  options.width = 48;
  options.blocks = 1;
  options.linear = platonic::LinearForm::dense;
  recipe_.model.system = options;
  recipe_.train.from.clear();
  run("dense", recipe_);
  recipe_.train.from = folder_ / "dense";
  options.linear = platonic::LinearForm::spectral;
  options.recompute = true;
  options.dropout = options.attention_dropout = options.drop_path = 0.1;
  options.drop_path_by = DropPathBy::node;
  recipe_.model.system = options;
  run("spectral", recipe_);
  EXPECT_FALSE(listener_.heard("the same weights give something else"));
  options.scores = platonic::Scores::invariant;
  recipe_.model.system = options;
  run("other", recipe_);
  EXPECT_TRUE(listener_.heard("train.from: model.platonic.scores is "));
}

TEST_F(StartFrom, WhatIsFrozenKeepsItsBitsAndIsNotResumedFromTheSource) {
  recipe_.train.freeze = {"blocks.0.attention", "linear_in.weight"};
  const auto is_frozen = [](const std::string& name) {
    return name.starts_with("blocks.0.attention.") || name == "linear_in.weight";
  };
  run("through", recipe_);
  const NamedTensors source = weights_of(folder_ / "source"), trained = weights_of(folder_ / "through");
  int64_t frozen = 0;
  for (const auto& [name, t] : source) {
    frozen += is_frozen(name) ? 1 : 0;
    EXPECT_EQ(at::equal(t, trained.at(name)), is_frozen(name)) << name;
  }
  EXPECT_GT(frozen, 2);
  EXPECT_NE(listener_.taken.find(text(frozen, " of ", source.size(), " parameters are frozen")),
            std::string::npos)
      << listener_.taken;
  const Resumed state = read_checkpoint(folder_ / "through");
  for (const auto& [name, t] : state.weights) {
    EXPECT_EQ(state.optimiser.contains("first." + name), !is_frozen(name)) << name;
    if (is_frozen(name)) {
      EXPECT_TRUE(at::equal(t, source.at(name))) << name;
      EXPECT_TRUE(at::equal(state.average.at("weights." + name), source.at(name))) << name;
    }
  }
  // The record says what it started from, and is a config.
  const Recipe recorded = read_recipe(folder_ / "through/config.toml");
  EXPECT_EQ(recorded.train.from, folder_ / "source");
  EXPECT_EQ(recorded.train.freeze, recipe_.train.freeze);

  EXPECT_EQ(run("parted", recipe_, stop_after(3)).ending, Ending::interrupted);
  std::filesystem::remove_all(folder_ / "source");
  EXPECT_EQ(go_on("parted").ending, Ending::finished);
  for (const char* name : {"last/state.safetensors", "metrics.csv"}) {
    const std::string a = read_if_there(folder_ / ("through/" + std::string(name)));
    EXPECT_TRUE(a == read_if_there(folder_ / ("parted/" + std::string(name)))) << name;
    EXPECT_FALSE(a.empty());
  }
}

TEST_F(StartFrom, FreezingRandomWeightsIsAllowedWithAWarning) {
  recipe_.train.from.clear();
  recipe_.train.freeze = {"linear_in"};
  run("run", recipe_);
  EXPECT_TRUE(listener_.heard("train.freeze without train.from"));
}

TEST_F(StartFrom, RefusesToFreezeNothingOrEverything) {
  recipe_.train.freeze = {"blocks.0", "block.0.mlp"};
  const std::string unknown = refusal(recipe_);
  EXPECT_NE(
      unknown.find("train.freeze: must be the beginnings of names of parameters, up to a dot, got "
                   "'block.0.mlp' (did you mean blocks.0.mlp?); the model has linear_in, blocks, linear_out"),
      std::string::npos)
      << unknown;
  recipe_.train.freeze = {"blo"};
  EXPECT_NE(refusal(recipe_).find("got 'blo'"), std::string::npos);
  recipe_.train.freeze = {"linear_in", "blocks", "linear_out"};
  EXPECT_NE(refusal(recipe_).find("must leave some parameter to be trained"), std::string::npos);
}

TEST_F(StartFrom, AnOptionThatChangesTheFunctionIsSaid) {
  auto* model = recipe_.model.system.get_if<transformer::Options>();
  model->dropout = 0.25;  // of training alone: is not
  model->centre = false;
  model->activation = Activation::relu;
  run("run", recipe_);
  EXPECT_TRUE(listener_.heard("train.from: model.transformer.centre is true in "));
  EXPECT_TRUE(listener_.heard(", false in the config"));
  EXPECT_TRUE(listener_.heard("model.transformer.activation is "));
  EXPECT_EQ(std::ranges::count_if(listener_.notes, [](const auto& n) { return n.starts_with("train.from"); }),
            2);
}

TEST_F(StartFrom, TakesWhatFitsAndNamesTheRest) {
  auto* model = recipe_.model.system.get_if<transformer::Options>();
  model->blocks = 2;
  run("run", recipe_);
  EXPECT_TRUE(listener_.heard("so they start at random: blocks.1 ("));
  EXPECT_TRUE(
      listener_.heard("scales and references are fitted to the data as of a model that starts at random"));
  recipe_.train.from = folder_ / "run";
  model->blocks = 1;
  listener_.notes.clear();
  run("back", recipe_);
  EXPECT_TRUE(listener_.heard("this model has no use for: blocks.1 ("));
  model->hidden_factor += 1;
  listener_.notes.clear();
  run("wider", recipe_);
  EXPECT_TRUE(listener_.heard("train.from: blocks.0.mlp.0.weight is ["));
}

TEST_F(StartFrom, RefusesWhatIsNotThereOrAnothersKind) {
  recipe_.train.from = folder_ / "nowhere";
  EXPECT_THROW(run("refused", recipe_), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
  const std::string damaged = folder_ / "damaged.safetensors";
  std::ofstream(damaged, std::ios::binary)
      << read_if_there(folder_ / "source/best/model.safetensors").substr(0, 3000);
  recipe_.train.from = damaged;
  EXPECT_THROW(run("refused", recipe_), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
  recipe_.train.from = folder_ / "source";
  recipe_.model = small("platonic");
  EXPECT_NE(
      refusal(recipe_).find("must be a model of the system that the config names, platonic, got transformer"),
      std::string::npos);
}

TEST_F(StartFrom, IsAKeyAsAnyOther) {
  const Recipe read = read_recipe(folder_ / "source/config.toml",
                                  {"train.from=runs/a-001", "train.freeze=[\"blocks.0\", \"linear_in\"]"});
  EXPECT_EQ(read.train.from, "runs/a-001");
  EXPECT_EQ(read.train.freeze, (std::vector<std::string>{"blocks.0", "linear_in"}));
}

/// A model of one parameter.
struct One : Model {
  One(const std::string& name, int64_t size) : Model({}) { parameter(name, {size}, Init::ones()); }
  Named operator()(const Input&) override { return {}; }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
};

TEST(TakeWeights, RefusesAModelOfWhichNothingFits) {
  SavedModel source;
  for (const auto& [name, size] : {std::pair("b", 2), {"a", 3}}) {
    source.model = std::make_shared<One>(name, size);
    One model("a", 2);
    try {
      take_weights(model, source, source.recipe.model, "other.safetensors");
      FAIL() << name;
    } catch (const ConfigError& error) {
      EXPECT_NE(
          std::string(error.what()).find("train.from: other.safetensors: must have some parameter that fits"),
          std::string::npos)
          << error.what();
    }
  }
}

TEST(InterfaceFrom, RefusesOtherDataAndKeepsTheNumberOfNodes) {
  SavedModel source;
  source.interface = atoms().interface;
  Interface data = source.interface;
  data.typical_nodes = 70;
  data.elements.emplace_back("N");
  data.types = 4;
  EXPECT_EQ(interface_from(source, data, "M").typical_nodes, 4);
  EXPECT_EQ(interface_from(source, data, "M").types, 4);
  const auto refused = [&](const std::function<void(Interface&)>& change, const std::string& part) {
    Interface other = source.interface;
    change(other);
    try {
      interface_from(source, other, "M");
      FAIL() << part;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused([](Interface& i) { i.elements = {"C", "H", "O"}; }, "it has H, C, O, the data C, H, O");
  refused([](Interface& i) { i.elements = {"H", "C"}; }, "it has H, C, O, the data H, C");
  refused([](Interface& i) { i.length_unit = "nm"; },
          "the model was trained on lengths in \u00c5, the data have nm");
  refused([](Interface& i) { i.dimension = 2; }, "must be a model in 2 dimensions");
  refused([](Interface& i) { i.grid = true; }, "must be a model of grid");
}

// Elements that the model lacks come after its own: what it knows of these stays, in every system.
TEST(TakeWeights, KeepsWhatItKnowsOfItsOwnTypes) {
  const auto data = set();
  const ForceField task({});
  for (const char* system : {"transformer", "platonic", "geomformer", "et", "painn", "gatr"}) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    SavedModel source;
    source.recipe.model = small(system);
    source.interface = task.interface(data->schema());
    source.model = build(source.recipe.model, source.interface);
    Interface more = source.interface;
    more.types = 4;
    more.elements.emplace_back("N");
    const auto model = build(source.recipe.model, more);
    const Input input = all_of(*data).input;
    const at::NoGradGuard quiet;
    const Tensor right = (*source.model)(input).at("energy");
    EXPECT_GT(((*model)(input).at("energy") - right).abs().max().item<double>(), 1e-6) << system;
    const Taken taken = take_weights(*model, source, source.recipe.model, "M");
    EXPECT_TRUE(taken.whole) << system;
    ASSERT_EQ(taken.warnings.size(), 1u) << system;
    EXPECT_NE(taken.warnings[0].find("M has no N: what belongs to them starts at random, in "),
              std::string::npos)
        << taken.warnings[0];
    EXPECT_LT(((*model)(input).at("energy") - right).abs().max().item<double>(), 1e-12) << system;
  }
}

// Types without names, of which the data have fewer: one line says so, in every system, and nothing is taken by chance.
TEST(TakeWeights, OfMoreTypesWithoutNamesSaysSoInOneLine) {
  const auto data = set();
  const ForceField task({});
  for (const char* system : {"transformer", "platonic", "geomformer", "et", "painn"}) {
    at::manual_seed(3);
    SavedModel source;
    source.recipe.model = small(system);
    source.interface = task.interface(data->schema());
    source.interface.elements.clear();
    source.interface.types = 5;
    source.model = build(source.recipe.model, source.interface);
    for (const int64_t types : {1, 2, 4}) {
      Interface fewer = source.interface;
      fewer.types = types;
      EXPECT_NO_THROW(interface_from(source, fewer, "M"));
      const auto model = build(source.recipe.model, fewer);
      const Taken taken = take_weights(*model, source, source.recipe.model, "M");
      EXPECT_FALSE(taken.whole) << system;
      ASSERT_EQ(taken.warnings.size(), 1u) << system << types << taken.warnings.back();
      EXPECT_TRUE(taken.warnings[0].starts_with(
          text("train.from: M has 5 types of nodes, the data ", types, ", and no names say which of them: ")))
          << taken.warnings[0];
    }
  }
}

const Taken whole{.line = "", .warnings = {}, .whole = true};

/// Energies that a model and its task predict, and a constant of each element beside them.
std::shared_ptr<InMemory> with_energies(const Dataset& data, Model& model, const Task& task,
                                        double factor = 1) {
  Batch batch = all_of(data);
  const Tensor shifts = at::tensor({-13.6, -1030.0, -2040.0}, at::kDouble);
  const auto& points = std::get<Points>(batch.input);
  const Tensor of_elements = at::zeros({points.count()}, at::kDouble)
                                 .index_add(0, points.graphs.index, shifts.index_select(0, points.types));
  const Named said = task.predict(model, batch);
  batch.labels["energy"] = (said.at("energy") + of_elements.unsqueeze(1)) * factor;
  batch.labels["forces"] = said.at("forces") * factor;
  Schema schema = data.schema();
  if (factor != 1) {
    schema.labels[0].unit = "meV";
    schema.labels[1].unit = "meV/\u00c5";
  }
  return std::make_shared<InMemory>(batch, schema);
}

double energy_error(const Task& task, Model& model, const Dataset& data) {
  const Batch batch = all_of(data);
  return (task.predict(model, batch).at("energy") - batch.labels.at("energy")).abs().max().item<double>();
}

// References of another level of theory are what the data have beyond the model's own answer, whether or not the
// model's outputs hold the energies of atoms. Fitted to the data alone they would count twice what it knows.
TEST(Refit, FitsReferencesToWhatTheModelLeaves) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = set();
  enum class From { trained, imported, weights };  // weights alone: without a task
  for (const From kind : {From::trained, From::imported, From::weights}) {
    for (const double factor : {1.0, 1000.0}) {
      SavedModel source;
      Recipe recipe;
      recipe.task.task = ForceFieldOptions{};
      source.task = make_task(recipe.task);
      source.interface = source.task->interface(data->schema());
      const auto springs = std::make_shared<Springs>(source.interface);
      source.model = springs;
      if (kind == From::trained) {
        source.task->fit(*data);
      } else {
        ASSERT_TRUE(
            source.task->adopt(data->schema(), {.scale = 1, .shift = kind == From::imported ? 2.0 : 0.0}));
      }
      const auto other = with_energies(*data, *springs, *source.task, factor);
      const auto task = make_task(recipe.task);
      task->fit(*other);
      const Interface mine = task->interface(other->schema());
      Springs model(mine);
      EXPECT_GT(energy_error(*task, model, *other), 1e-3 * factor);  // the control: as of a new model
      const double scale = number(source.task->state().at("scale"));
      if (kind == From::weights) {
        source.task = nullptr;
      }
      EXPECT_TRUE(refit(*task, model, recipe, source, whole, other, "M").empty());
      EXPECT_LT(energy_error(*task, model, *other), 1e-7 * factor) << static_cast<int>(kind) << " " << factor;
      EXPECT_NEAR(number(task->state().at("scale")), factor * scale, 1e-9 * factor);
      const Batch batch = all_of(*other);
      EXPECT_TRUE(
          at::allclose(task->predict(model, batch).at("forces"), batch.labels.at("forces"), 1e-10, 1e-12));
    }
  }
}

TEST(Refit, NamesElementsThatTheModelWasNotTrainedOn) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = set();
  SavedModel source;
  Recipe recipe;
  recipe.task.task = ForceFieldOptions{};
  source.task = make_task(recipe.task);
  source.interface = source.task->interface(data->schema());
  source.task->fit(*data);
  NamedTensors state = source.task->state();
  state["seen"] = at::tensor({3.0, 0.0, 2.0}, at::kDouble);
  source.task->load(state);
  const auto task = make_task(recipe.task);
  task->fit(*data);
  Springs model(source.interface);
  const auto lines = refit(*task, model, recipe, source, whole, data, "M");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "train.from: M was trained without C: its weights for them are as they were drawn");
}

}  // namespace start_from_test
}  // namespace weyl
