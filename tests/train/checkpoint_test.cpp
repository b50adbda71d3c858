#include "weyl/train/loop/checkpoint.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/saved/evaluate.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/run/model_card.h"

namespace weyl {
namespace checkpoint_test {

constexpr double version1_mse = 0.25942259530822265;
constexpr int64_t version1_steps = 20;

std::string message_of(const std::function<void()>& broken) {
  try {
    broken();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no DataError";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() : recipe_(small_recipe()), data_(small_data()), saved_(small_model(recipe_, data_)) {
    path_ = folder_ / "model.safetensors";
    save_model(path_, saved_);
  }
  // Writes the model with other tensors or metadata and returns what loading it says.
  std::string loading(const std::function<void(NamedTensors&, std::map<std::string, std::string>&)>& change) {
    NamedTensors tensors = load_tensors(path_);
    auto metadata = SafetensorsFile(path_).header().metadata;
    change(tensors, metadata);
    save_tensors(folder_ / "broken.safetensors", tensors, metadata);
    const std::string message = message_of([&] { load_model(folder_ / "broken.safetensors"); });
    EXPECT_TRUE(has(message, "broken.safetensors")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ScratchFolder folder_;
  Recipe recipe_;
  Splits data_;
  SavedModel saved_;
  std::string path_;
};

TEST_F(CheckpointTest, ReadsBackWhatWasWritten) {
  const SavedModel read = load_model(path_);
  EXPECT_EQ(read.interface, saved_.interface);
  EXPECT_EQ(read.interface, saved_.interface);
  EXPECT_EQ(read_stored_recipe(read.recipe.text, path_).train.seed, recipe_.train.seed);
  EXPECT_EQ(read.recipe.batch, recipe_.train.batch);
  EXPECT_FALSE(read.model->training());
  const auto a = saved_.model->parameters(), b = read.model->parameters();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(at::equal(a[i].tensor, b[i].tensor));
  }
  EXPECT_EQ(evaluate(*read.model, *read.task, data_.valid).metrics.at("mse").value,
            evaluate(*saved_.model, *saved_.task, data_.valid).metrics.at("mse").value);
  EXPECT_EQ(load_model(path_, at::kCPU, at::kDouble).model->dtype(), at::kDouble);
  save_model(folder_ / "again.safetensors", read);
  EXPECT_EQ(read_if_there(path_), read_if_there(folder_ / "again.safetensors"));
}

TEST_F(CheckpointTest, SaysWhatItHoldsWithoutTorch) {
  const SafetensorsFile file(path_);
  EXPECT_TRUE(is_model(file.header()));
  const ModelSummary s = read_summary(file.header(), path_);
  EXPECT_EQ(s.format_version, 1);
  EXPECT_EQ(s.system, "transformer");
  EXPECT_EQ(s.task, "trajectory");
  EXPECT_EQ(s.carrier, "points");
  EXPECT_EQ(s.dtype, "float32");
  EXPECT_EQ(s.interface, saved_.interface);
  EXPECT_EQ(s.parameters, saved_.model->parameter_count());
  EXPECT_EQ(s.parts, saved_.model->parts());
  EXPECT_EQ(s.flops_forward, saved_.model->work_of_token().forward);
  EXPECT_EQ(s.flops_train, training_flops(*saved_.model, saved_.task.get(), 1));
  EXPECT_EQ(s.flops_nominal, saved_.model->work_of_token().nominal);
  SafetensorsHeader older = file.header();  // that said nothing of training
  older.metadata["flops_per_token"] = "{\"forward\": 5}";
  EXPECT_EQ(read_summary(older, path_).flops_train, 15);
  EXPECT_EQ(read_summary(older, path_).flops_nominal, 6.0 * static_cast<double>(s.parameters_real));
  EXPECT_FALSE(s.exact.empty());
  const std::string card = model_card("run-001", s, {{"test mse", 0.25, "m^2"}});
  EXPECT_TRUE(has(card, "---\nlibrary_name: weyl\n")) << card;
  EXPECT_TRUE(has(card, "| test mse | 0.25 | m^2 |")) << card;
}

TEST_F(CheckpointTest, HostileFilesAreOneLine) {
  const std::string weight = saved_.model->parameters().front().name;
  using Metadata = std::map<std::string, std::string>;
  EXPECT_TRUE(
      has(loading([&](NamedTensors& t, Metadata&) { t[weight].view(-1)[0] = NAN; }), "must be finite"));
  EXPECT_TRUE(has(loading([&](NamedTensors& t, Metadata&) { t.erase(weight); }),
                  "'" + weight + "', which is missing"));
  EXPECT_TRUE(has(loading([&](NamedTensors& t, Metadata&) { t["other"] = at::ones({2}); }),
                  "unexpected tensor 'other'"));
  EXPECT_TRUE(
      has(loading([&](NamedTensors& t, Metadata&) { t[weight] = at::ones({2, 3, 4}); }), "[2, 3, 4]"));
  EXPECT_TRUE(
      has(loading([&](NamedTensors& t, Metadata&) { t[weight] = t[weight].to(at::kLong); }), "must be real"));
  EXPECT_TRUE(has(loading([&](NamedTensors& t, Metadata&) { t.erase("task.scale"); }), "'scale'"));
  for (const char* version : {"2", "0", "-1", "one", "", "1 "}) {
    EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m["format_version"] = version; }),
                    "format_version must be"))
        << version;
  }
  for (const char* key :
       {"format_version", "recipe", "interface", "carrier", "symmetry", "parameters", "task"}) {
    EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m.erase(key); }), key)) << key;
  }
  EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m["carrier"] = "strings"; }), "carrier must be"));
  EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m["symmetry"] = "{"; }), "must be valid JSON"));
  EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m["trained_on"] = "{\"spacing\": {}}"; }),
                  "metadata 'trained_on': 'spacing' must have"));
  // Of the recipe only what predictions need is read: the rest is text, for those who open data or train.
  EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) {
                    std::string& recipe = m["recipe"];
                    recipe.insert(recipe.find("[model]\n") + 8, "nonsense = 1\n");
                  }),
                  "nonsense"));
  EXPECT_TRUE(
      has(loading([&](NamedTensors&, Metadata& m) { m["recipe"] += "\nnonsense\n"; }), "not valid TOML"));
  EXPECT_TRUE(
      has(loading([&](NamedTensors&, Metadata& m) { m["interface"] = "dimension = 9\n"; }), "dimension"));
  EXPECT_TRUE(has(loading([&](NamedTensors&, Metadata& m) { m["carrier"] = "poses"; }),
                  "must name the group of its poses, names none"));
  EXPECT_TRUE(
      has(loading([&](NamedTensors&, Metadata& m) { m["interface"] += "group = \"se3\"\n"; }), "interface"));
  // A header that asks for a huge model is refused by its shapes, before memory is asked for.
  loading([&](NamedTensors&, Metadata& m) {
    auto& text = m["recipe"];
    const auto at = text.find("width = 16");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 10, "width = 65536");
  });
  EXPECT_TRUE(has(message_of([&] { load_model(folder_ / "none"); }), "got nothing"));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_TRUE(has(message_of([&] { load_model(folder_ / "empty"); }), "must hold a checkpoint"));
}

TEST_F(CheckpointTest, KeepsTheTwoNewest) {
  const std::string run = folder_ / "run";
  std::filesystem::create_directory(run);
  Optimiser optimiser(saved_.model->parameters(), recipe_.train.optimiser);
  for (int64_t step : {1, 2, 3}) {
    save_checkpoint(run, saved_, {.step = step, .best = Score{1.0 / 3}, .loss_sum = 0.1}, optimiser, nullptr);
  }
  const auto newest = read_checkpoint(run);
  EXPECT_EQ(newest.state, (TrainState{.step = 3, .best = Score{1.0 / 3}, .loss_sum = 0.1}));
  EXPECT_EQ(read_summary(SafetensorsFile(run + "/previous/state.safetensors").header(), run).step, 2);
  EXPECT_EQ(model_file(run), run + "/last/model.safetensors");
  EXPECT_EQ(model_file(run + "/previous"), run + "/previous/model.safetensors");
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(run)) {
    ++entries;
  }
  EXPECT_EQ(entries, 2);
  // A checkpoint that a kill left half-made does not matter.
  std::filesystem::create_directory(run + "/last.new");
  std::ofstream(run + "/last.new/state.safetensors") << "half";
  EXPECT_EQ(read_checkpoint(run).state.step, 3);
  save_checkpoint(run, saved_, {.step = 4}, optimiser, nullptr);
  EXPECT_EQ(read_checkpoint(run).state.step, 4);
  // Where two folders cannot be exchanged there is an instant without `last`.
  std::filesystem::remove_all(run + "/last");
  EXPECT_EQ(read_checkpoint(run).state.step, 3);
}

TEST_F(CheckpointTest, HostileStatesAreOneLine) {
  const std::string run = folder_ / "run";
  std::filesystem::create_directory(run);
  Optimiser optimiser(saved_.model->parameters(), recipe_.train.optimiser);
  save_checkpoint(run, saved_, {.step = 3}, optimiser, nullptr);
  const std::string file = run + "/last/state.safetensors";
  const NamedTensors tensors = load_tensors(file);
  const auto metadata = SafetensorsFile(file).header().metadata;
  for (const char* state : {"", "{}", "[]", "{\"step\": -1}", "{\"step\": \"x\"}", "{\"step\": 1e300}"}) {
    auto broken = metadata;
    broken["state"] = state;
    save_tensors(file, tensors, broken);
    EXPECT_TRUE(has(message_of([&] { read_checkpoint(run); }), "'state'")) << state;
  }
  auto broken = metadata;
  broken.erase("state");
  save_tensors(file, tensors, broken);
  EXPECT_TRUE(has(message_of([&] { read_checkpoint(run); }), "no training can continue"));
  auto fewer = tensors;
  fewer.erase(fewer.lower_bound("optimiser.first."));
  save_tensors(file, fewer, metadata);
  recipe_.train.average.reset();
  Trainer trainer(small_model(recipe_, data_), recipe_.train, data_, run);
  EXPECT_TRUE(has(message_of([&] { trainer.load(read_checkpoint(run)); }), "optimiser state must hold"));
}

// A run of format version 1, written once with the disabled test below. The keys of its recipe, alone, follow those of
// the program until the first release; from then on it must load for ever.
constexpr const char* version1 = WEYL_SOURCE_DIR "/tests/fixtures/checkpoints/v1";

TEST(CheckpointFormat, Version1LoadsForEver) {
  const SavedModel saved = load_model(version1);
  EXPECT_EQ(saved.metadata.at("format_version"), "1");
  EXPECT_NEAR(evaluate(*saved.model, *saved.task, small_set(20, 3)).metrics.at("mse").value, version1_mse,
              1e-6);
  // Training goes on from it, too.
  const ScratchFolder folder;
  std::filesystem::copy(version1, folder / "run", std::filesystem::copy_options::recursive);
  Resumed resumed = read_checkpoint(folder / "run");
  EXPECT_EQ(resumed.state.step, version1_steps);
  resumed.recipe.train.epochs = 5;
  const Splits data = small_data();
  Trainer trainer(small_model(resumed.recipe, data), resumed.recipe.train, data, folder / "run");
  trainer.load(resumed);
  EXPECT_GT(trainer.run().steps, version1_steps);
}

TEST(CheckpointFormat, DISABLED_WritesTheFixture) {
  std::filesystem::create_directories(version1);
  const auto result = train_small(small_recipe(), version1);
  std::cout << result.steps << " steps, test mse " << exact_text(result.test->metrics.at("mse").value)
            << "\n";
  for (const char* name : {"timing.csv", "events.out.tfevents.0.weyl"}) {
    std::filesystem::remove(std::string(version1) + "/" + name);
  }
}

}  // namespace checkpoint_test
}  // namespace weyl
