// What a config's reader says of a key that no option has.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace suggestions_test {

/// What follows "unknown key; " in the message for the last of the overrides.
std::string hint(const std::vector<std::string>& overrides, std::string_view toml = "") {
  Recipe recipe;
  try {
    read_toml_text(toml, "c.toml", overrides, [&](Fields& f) { fields(f, recipe); });
  } catch (const ConfigError& e) {
    const std::string message = e.what(), mark = ": unknown key; ";
    const size_t at = message.find(mark);
    return at == message.npos ? "another error: " + message : message.substr(at + mark.size());
  }
  return "nothing was thrown";
}

std::string meant(const std::string& path) {
  return "did you mean '" + path + "'?";
}

TEST(Suggestions, AreTheNearestKeyOfTheSameWord) {
  EXPECT_EQ(hint({"train.rate=1e-4"}), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({}, "[train]\nrate = 1e-4"), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({"rate=1e-4"}), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({"epochs=3"}), meant("train.epochs"));
  EXPECT_EQ(hint({"train.warmup=1"}), meant("train.schedule.warmup"));
  EXPECT_EQ(hint({"train.optimiser.patience=3"}), meant("train.patience"));  // nearer than the schedule's
  EXPECT_EQ(hint({"data.path=x"}), meant("data.nbody.path"));
  EXPECT_EQ(hint({"task.normalise=false"}), meant("task.trajectory.normalise"));
  EXPECT_EQ(hint({"system=lie"}), meant("model.system"));
  EXPECT_EQ(hint({"train.name=adam"}), "did you mean 'train.optimiser.name' or 'train.schedule.name'?");
  EXPECT_EQ(hint({}, "[optimiser]\nrate = 1e-4\nclip = 1"), meant("train.optimiser"));
}

TEST(Suggestions, FollowWhatStandsInATableThatIsElsewhere) {
  EXPECT_EQ(hint({"optimiser.rate=1e-4"}), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({"optimizer.rate=1e-4"}), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({"optimizer.lr=1e-4"}), "did you mean 'train.optimiser.rate' (largest learning rate)?");
  EXPECT_EQ(hint({"trian.epochs=3"}), meant("train"));  // the rest is right
  EXPECT_EQ(hint({"trian.rate=1e-4"}), meant("train.optimiser.rate"));
  EXPECT_EQ(hint({"trainer.lr=1e-4"}), "did you mean 'train.optimiser.rate' (largest learning rate)?");
  EXPECT_EQ(hint({"settings.lr=1e-4"}), "did you mean 'train.optimiser.rate' (largest learning rate)?");
}

TEST(Suggestions, AreKeysOfTheSystemAndTaskThatAreChosen) {
  for (const std::string system : {"transformer", "platonic", "lie", "geomformer", "gatr"}) {
    EXPECT_EQ(hint({"model.system=" + system, "model.width=3"}), meant("model." + system + ".width"));
    EXPECT_EQ(hint({"heads=3"}, "[model]\nsystem = '" + system + "'"), meant("model." + system + ".heads"));
  }
  EXPECT_EQ(hint({"model.system=steerable", "heads=3"}), meant("model.steerable.encoder.heads"));
  EXPECT_EQ(hint({"model.system=geomformer", "preset=et"}), meant("model.geomformer.preset"));
  // No other system has it, so nothing is meant.
  EXPECT_EQ(hint({"preset=et"}).find("the keys here are"), 0u) << hint({"preset=et"});
  EXPECT_EQ(hint({"task.name=property", "task.loss=l1"}), meant("task.property.loss"));
  EXPECT_EQ(hint({"task.loss=l1"}).find("did you mean"), std::string::npos);
  // In a table that is not chosen its own keys come first.
  EXPECT_EQ(hint({"data.tensors.paht=x"}), meant("path"));
  EXPECT_EQ(hint({}, "[model.platonik]\nwidth = 3"),
            meant("platonic"));  // which a file may hold beside the chosen
}

TEST(Suggestions, KnowTheWordsOfOthers) {
  const std::map<std::string, std::string> words{{"lr", "train.optimiser.rate"},
                                                 {"train.lr", "train.optimiser.rate"},
                                                 {"train.learning_rate", "train.optimiser.rate"},
                                                 {"train.optimiser.lr", "train.optimiser.rate"},
                                                 {"model.learning_rate", "train.optimiser.rate"},
                                                 {"train.learning_rat", "train.optimiser.rate"},
                                                 {"train.eps", "train.optimiser.epsilon"},
                                                 {"train.grad_clip", "train.optimiser.clip"},
                                                 {"train.warmup_steps", "train.schedule.warmup"},
                                                 {"train.scheduler", "train.schedule"},
                                                 {"batch_size", "train.batch"},
                                                 {"train.batch_size", "train.batch"},
                                                 {"data.batch_size", "train.batch"},
                                                 {"train.max_tokens", "train.batch_tokens"},
                                                 {"max_epochs", "train.epochs"},
                                                 {"train.num_epochs", "train.epochs"},
                                                 {"train.max_steps", "train.steps"},
                                                 {"train.ema", "train.average"},
                                                 {"train.eval_every", "train.evaluate_every"},
                                                 {"train.early_stopping", "train.patience"},
                                                 {"model.name", "model.system"},
                                                 {"data.name", "data.set"},
                                                 {"data.dataset", "data.set"},
                                                 {"n_layers", "model.transformer.blocks"},
                                                 {"model.num_heads", "model.transformer.heads"},
                                                 {"model.transformer.n_heads", "model.transformer.heads"},
                                                 {"model.d_model", "model.transformer.width"}};
  for (const auto& [word, path] : words) {
    const std::string expected = "did you mean '" + path + "' (";  // and what it is
    EXPECT_EQ(hint({word + "=1"}).substr(0, expected.size()), expected)
        << word << ": " << hint({word + "=1"});
  }
  // Graphs are what `batch_size` counts elsewhere, whatever else bounds batches here.
  EXPECT_EQ(hint({"train.batch_tokens=100", "train.batch_size=8"}),
            "did you mean 'train.batch' (graphs a batch)?");
  const std::map<std::string, std::string> depth{{"platonic", "blocks"},
                                                 {"lie", "blocks"},
                                                 {"geomformer", "blocks"},
                                                 {"gatr", "blocks"},
                                                 {"steerable", "encoder.depth"}};
  for (const auto& [system, key] : depth) {
    const std::string expected = "did you mean 'model." + system + "." + key + "' (";
    EXPECT_EQ(hint({"model.system=" + system, "n_layers=3"}).substr(0, expected.size()), expected) << system;
  }
}

TEST(Suggestions, AreSpelledNearly) {
  EXPECT_EQ(hint({"train.epohcs=3"}), meant("epochs"));  // a slip in the table itself needs no table
  EXPECT_EQ(hint({"train.optimizer=3"}), meant("optimiser"));
  EXPECT_EQ(hint({"epohcs=3"}), meant("train.epochs"));
  EXPECT_EQ(hint({"train.weight_dekay=3"}), meant("train.optimiser.weight_decay"));
  // In the items of a list their own keys come before those of the config.
  EXPECT_EQ(hint({"model.system=steerable", "interface.features=[{chanels=3}]"}), meant("channels"));
}

/// What is far from everything gets the keys that there are, never a guess.
TEST(Suggestions, AreNoneForWordsThatAreFarFromAll) {
  for (const std::string word :
       {"banana", "zoom", "x", "settings", "logging", "train.x", "train.banana", "model.transformer.colour",
        "train.optimiser.zoom", "pat", "data.nbody.zebra"}) {
    EXPECT_EQ(hint({word + "=1"}).find("the keys here are"), 0u) << word << ": " << hint({word + "=1"});
  }
}

}  // namespace suggestions_test
}  // namespace weyl
