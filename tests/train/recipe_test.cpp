#include "weyl/train/recipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"

namespace weyl {
namespace recipe_test {

namespace fs = std::filesystem;

const fs::path kBroken = fs::path(WEYL_SOURCE_DIR) / "tests/fixtures/broken/config";

std::string message(const std::string& path, const std::vector<std::string>& overrides = {}) {
  try {
    read_recipe(path, overrides);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// What follows the path in the message of each broken config. Where toml++ words the rest, the beginning is
// enough.
const std::map<std::string, std::string> kMessages{
    {"unknown_key",
     ":3: train.learning_rate: unknown key; did you mean 'train.optimiser.rate' (largest learning rate)?"},
    {"misspelt_key", ":2: train.epohcs: unknown key; did you mean 'epochs'?"},
    {"misspelt_table", ":1: train.optimizer: unknown key; did you mean 'optimiser'?"},
    {"unknown_section",
     ":4: logging: unknown key; the keys here are bench, data, interface, model, task, train"},
    {"unknown_system",
     ":2: model.system: must be \"transformer\", \"platonic\", \"lie\", \"steerable\", \"geomformer\", \"gatr\", "
     "\"cnn\" or \"unet\", got "
     "the string "
     "\"platonik\"; did "
     "you mean "
     "'platonic'?"},
    {"unknown_data_set", ":2: data.set: must be \"nbody\", "},  // and the others, as many as there are
    {"text_for_number", ":2: train.optimiser.rate: must be a number from 0 to 1000, got the string \"1e-3\""},
    {"float_for_integer", ":2: train.batch: must be an integer from 1 to 1000000000, got the number 32.0"},
    {"number_for_flag", ":2: task.trajectory.normalise: must be true or false, got the integer 1"},
    {"out_of_range", ":3: train.optimiser.beta1: must be a number from 0 to 0.999999, got the number 1.5"},
    {"negative_seed", ":2: train.seed: must be an integer of at least 0, got the integer -1"},
    {"not_a_number", ":2: train.optimiser.rate: must be a number from 0 to 1000, finite, got the number nan"},
    {"infinite",
     ":2: train.max_seconds: must be a number from 0 to 1000000000, finite or false, got the number inf"},
    {"duplicate_key", ":4: not valid TOML: "},
    {"duplicate_table", ":5: not valid TOML: "},
    {"unclosed_string", ":2: not valid TOML: "},
    {"unclosed_list", ":2: not valid TOML: "},
    {"missing_value", ":2: not valid TOML: "},
    {"not_utf8", ":2: not valid TOML: "},
    {"integer_too_long", ":2: not valid TOML: "},
    {"yaml", ":1: not valid TOML: "},
    {"table_for_number", ":1: train.batch: must be an integer from 1 to 1000000000, got a table"},
    {"number_for_table", ":1: train: must be a table, got the integer 5"},
    {"bad_choice",
     ":2: train.schedule.name: must be \"constant\", \"cosine\", \"linear\", \"exponential\", \"step\" or "
     "\"plateau\", "
     "got the string \"cosin\"; did you mean 'cosine'?"},
    {"not_chosen_alternative", ":5: data.tensors.paht: unknown key; did you mean 'path'?"},
    {"feature_kind",
     ":5: interface.features[1].kind: must be \"scalar\", \"pseudoscalar\", \"vector\", \"axial_vector\", "
     "\"symmetric_tensor\", \"category\", \"element\" or \"multivector\", got the string \"axial-vector\"; "
     "did you mean 'axial_vector'?"},
    {"multivector_dimension",
     ": interface.features[0].kind: a multivector needs interface.dimension = 3, got 2"},
    {"feature_without_name", ": interface.outputs[0].name: must be given, got nothing"},
    {"feature_twice", ": interface.features[1].name: must be a name of its own, got \"v\" a second time"},
    {"feature_key", ":3: interface.features[0].chanels: unknown key; did you mean 'channels'?"},
    {"group",
     ":2: interface.group: must be \"so2\", \"se2\", \"so3\", \"se3\", \"aff2\" or \"aff3\" or false, got "
     "the "
     "string \"se4\"; did you mean 'se2'?"},
    {"dimension", ":2: interface.dimension: must be an integer from 1 to 3, got the integer 4"},
    {"group_dimension", ": interface.dimension: must be 2, that of the group se2, or be left out, got 3"},
    {"date_for_text", ":2: data.nbody.path: must be a string, got a date"},
    {"empty_choice",
     ":2: model.system: must be \"transformer\", \"platonic\", \"lie\", \"steerable\", \"geomformer\", \"gatr\", "
     "\"cnn\" or \"unet\", got "
     "the string "
     "\"\""},
    {"deep_key", ": a config must have at most 1000 dots, got 5000"},
    {"deep_list", ":1: not valid TOML: "},
    {"binary", ":1: not valid TOML: "},
};

TEST(BrokenConfigs, EachHasAMessageOfOneLineThatNamesTheFault) {
  for (const auto& [name, expected] : kMessages) {
    const std::string path = (kBroken / (name + ".toml")).string();
    const std::string found = message(path);
    ASSERT_EQ(found.compare(0, path.size(), path), 0) << name << ": " << found;
    EXPECT_EQ(found.substr(path.size(), expected.size()), expected) << name << ": " << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << name;
    if (!expected.ends_with(' ')) {
      EXPECT_EQ(found.size(), path.size() + expected.size()) << name << ": " << found;
    }
  }
}

TEST(BrokenConfigs, AllOfTheFolderAreInTheTable) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kBroken)) {
    EXPECT_TRUE(kMessages.contains(entry.path().stem().string())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, kMessages.size());
}

class TemporaryConfig {
 public:
  explicit TemporaryConfig(std::string_view toml)
      : path(fs::path(::testing::TempDir()) / text("weyl_recipe_", getpid(), "_", count++, ".toml")) {
    std::ofstream(path) << toml;
  }
  ~TemporaryConfig() { fs::remove(path); }
  const fs::path path;

 private:
  static inline int count = 0;
};

TEST(Recipe, ReadsAWholeConfigWithOverrides) {
  const TemporaryConfig file(R"(
    [data]
    set = "nbody"
    [data.nbody]
    path = "somewhere"
    train = 100
    [task]
    name = "trajectory"
    [task.trajectory]
    baseline = "straight_line"
    [model]
    system = "transformer"
    [train]
    epochs = 5
    optimiser = {rate = 5e-4, clip = 1}
    [interface]
    typical_nodes = 5
    features = [{name = "velocity", kind = "vector"}, {name = "charge", level = "node"}]
    outputs = [{name = "energy", level = "graph", extensive = true, unit = "eV"}]
  )");
  const Recipe r = read_recipe(file.path.string(), {"model.system=platonic", "train.epochs=7"});
  EXPECT_EQ(std::get<NbodyDataOptions>(r.data.set).path, "somewhere");
  EXPECT_EQ(std::get<NbodyDataOptions>(r.data.set).train, 100);
  EXPECT_EQ(std::get<TrajectoryOptions>(r.task.task).baseline, Baseline::straight_line);
  EXPECT_TRUE(r.model.system.get_if<platonic::Options>() != nullptr);
  EXPECT_EQ(r.train.epochs, 7);
  EXPECT_EQ(r.train.optimiser.rate, 5e-4);
  EXPECT_EQ(r.train.optimiser.clip, 1.0);
  ASSERT_TRUE(r.interface.has_value());
  EXPECT_EQ(r.interface->features,
            (std::vector<Quantity>{{"velocity", Level::node, Kind::vector}, {"charge"}}));
  EXPECT_EQ(r.interface->outputs,
            (std::vector<Quantity>{{"energy", Level::graph, Kind::scalar, 1, Role::free, true, "eV"}}));
}

TEST(Recipe, AnOverrideOfAnUnknownSystemListsTheSystems) {
  const TemporaryConfig file("[train]\nepochs = 1\n");
  EXPECT_EQ(message(file.path.string(), {"model.system=gcn"}),
            "override 'model.system=gcn': model.system: must be \"transformer\", \"platonic\", \"lie\", "
            "\"steerable\", \"geomformer\", \"gatr\", \"cnn\" or \"unet\", got the "
            "string \"gcn\"");
}

TEST(Recipe, TheResolvedConfigReadsBackToItself) {
  const TemporaryConfig file(
      "[interface]\nfeatures = [{name = 'v', kind = 'vector', role = 'offset'}]\n[train]\nsteps = 3\n");
  for (const std::string system : {"transformer", "platonic", "gatr"}) {
    Recipe r = read_recipe(file.path.string(), {"model.system=" + system});
    const std::string resolved = write_toml([&](Fields& f) { fields(f, r); });
    const TemporaryConfig again(resolved);
    Recipe back = read_recipe(again.path.string());
    EXPECT_EQ(write_toml([&](Fields& f) { fields(f, back); }), resolved);
    EXPECT_EQ(back.interface, r.interface);
    EXPECT_EQ(back.model.system.name(), r.model.system.name());
  }
}

/// A model that was saved before there was a margin had none.
TEST(Recipe, AStoredOneHasTheKeysOfItsTime) {
  const auto margin = [](const std::string& written) {
    Recipe recipe = read_stored_recipe("[model]\nsystem = \"steerable\"\n\n[model.steerable]\norders = 3\n" +
                                           written + "\n[[model.steerable.stages]]\nchannels = 8\n",
                                       "file");
    const std::string text = write_toml([&](Fields& f) { fields(f, recipe); });
    const size_t begin = text.find("\nmargin = ") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(margin(""), "margin = 0");
  EXPECT_EQ(margin("margin = false\n"), "margin = false");
  EXPECT_EQ(margin("margin = 3\n"), "margin = 3");
}

TEST(Recipe, AGroupBringsItsDimension) {
  const TemporaryConfig file("[interface]\ngroup = 'aff2'\noutputs = [{name = 'gap'}]\n[train]\nsteps = 3\n");
  Recipe r = read_recipe(file.path.string());
  EXPECT_EQ(r.interface->group, LieGroup::aff2);
  EXPECT_EQ(r.interface->dimension, 2);
  EXPECT_EQ(read_recipe(file.path.string(), {"interface.dimension=2"}).interface->dimension, 2);
  EXPECT_THROW(read_recipe(file.path.string(), {"interface.dimension=3"}), ConfigError);
  const TemporaryConfig again(write_toml([&](Fields& f) { fields(f, r); }));
  EXPECT_EQ(read_recipe(again.path.string()).interface, r.interface);
  EXPECT_FALSE(read_recipe(file.path.string(), {"interface.group=false"}).interface->group.has_value());
}

TEST(Recipe, TrainingNeedsABudget) {
  Recipe r;
  try {
    check_trainable(r);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(),
                 "train: must have a budget, train.epochs, train.steps, train.flops or train.max_seconds, "
                 "got none of them");
  }
  for (int which = 0; which < 4; ++which) {
    Recipe one;
    if (which == 0) one.train.epochs = 1;
    if (which == 1) one.train.steps = 1;
    if (which == 2) one.train.max_seconds = 1;
    if (which == 3) one.train.flops = 1e9;
    EXPECT_NO_THROW(check_trainable(one));
  }
}

TEST(Recipe, EveryKeyHasHelpAndADefaultWithinItsRange) {
  Recipe r;
  const auto visit = [&](Fields& f) { fields(f, r); };
  const std::string page = describe_markdown(visit, "Config reference");
  EXPECT_EQ(page.find("|  |"), std::string::npos) << page;
  // What is written is read back with every check: a default out of its range would be refused.
  EXPECT_NO_THROW(read_toml_text(write_toml(visit), "defaults", {}, visit));
}

TEST(Recipe, TheReferencePageIsCurrent) {
  Recipe r;
  std::istringstream made(describe_markdown([&](Fields& f) { fields(f, r); }, "Config reference"));
  std::ifstream kept(fs::path(WEYL_SOURCE_DIR) / "docs/reference/config.md");
  std::string made_line, kept_line;
  bool more = true;
  for (int line = 1; more; ++line) {
    more = static_cast<bool>(std::getline(made, made_line));
    ASSERT_EQ(more, static_cast<bool>(std::getline(kept, kept_line))) << "line " << line;
    ASSERT_EQ(kept_line, made_line)
        << "docs/reference/config.md:" << line
        << "; after a change of options: weyl config schema --markdown > docs/reference/config.md";
  }
}

}  // namespace recipe_test
}  // namespace weyl
